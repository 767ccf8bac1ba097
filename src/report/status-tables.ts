import type { StatusRows } from "../db/read/read-status.ts";
import type { RunRow } from "../db/read/recent-runs.ts";
import { formatKey } from "../key.ts";
import { printable } from "../printable.ts";
import { formatCount, formatElapsed, plural } from "./amounts.ts";
import { formatAgo, formatInstant } from "./moments.ts";
import { formatTable } from "./table.ts";
import { truncate } from "./width.ts";

/** The last runs, the newest first; under them how each ended that did not end well. */
export function formatRuns({ runs, now, holder }: StatusRows, columns: number): string {
  const titles = [
    "run",
    "kind",
    { title: "status", min: 7 },
    "begun",
    { title: "took", spare: 3 },
    { title: "at", spare: 4 },
    "read",
    { title: "skipped", spare: 2 },
    "changed",
    "failed",
    { title: "removed", spare: 1 },
  ];
  const rows = runs.map((run) => [
    `${run.id}`,
    run.scope === null ? run.kind : `${run.kind} of some`,
    run.status === "running" && holder === null ? "dead" : run.status,
    formatAgo(run.startedAt, now),
    formatElapsed((run.finishedAt ?? now).getTime() - run.startedAt.getTime()),
    formatInstant(run.startedAt),
    ...[run.read, run.skipped, run.changed, run.failed, run.removed].map(formatCount),
  ]);
  const remarks = runs
    .map((run) => [run.id, remarkOn(run, holder)] as const)
    .filter(([, remark]) => remark !== null)
    .map(([id, remark]) => truncate(`run ${id}: ${remark}`, columns));
  return [formatTable(titles, rows, columns), ...remarks].join("\n");
}

function remarkOn({ status, error }: RunRow, holder: string | null): string | null {
  if (status === "running") {
    return holder === null
      ? "its process is gone; it will be marked abandoned by the next run"
      : `at work, by ${printable(holder)}`;
  }
  const [firstLine = ""] = (error ?? "").split("\n");
  return firstLine === "" ? null : printable(firstLine);
}

/** Libraries whose last read failed; null when there is none. */
export function formatFailing({ failing, now }: StatusRows, columns: number): string | null {
  if (failing.total === 0) return null;
  const titles = ["library", "in a row", "failed", "last good copy", "error"];
  const rows = failing.shown.map(({ owner, name, failures, lastFailedAt, lastSuccessAt, lastError }) => [
    formatKey({ owner, name }),
    formatCount(failures),
    lastFailedAt === null ? "" : formatAgo(lastFailedAt, now),
    lastSuccessAt === null ? "never" : formatAgo(lastSuccessAt, now),
    lastError ?? "",
  ]);
  return [
    `${plural(failing.total, "library fails", "libraries fail")}`,
    formatTable(titles, rows, columns),
    ...more(failing.total - failing.shown.length),
  ].join("\n");
}

/** What the service sent and could not be stored; null when there is nothing. */
export function formatRejects({ rejects, now }: StatusRows, columns: number): string | null {
  if (rejects.total === 0) return null;
  const titles = ["library", "kind", "code", "rejects", "first seen"];
  const rows = rejects.shown.map(({ owner, name, kind, code, count, firstSeenAt }) => [
    owner === null || name === null ? "(none)" : formatKey({ owner, name }),
    kind,
    code,
    formatCount(count),
    firstSeenAt === null ? "" : formatAgo(firstSeenAt, now),
  ]);
  return [
    `${plural(rejects.total, "open reject")}`,
    formatTable(titles, rows, columns),
    ...more(rejects.groups - rejects.shown.length),
  ].join("\n");
}

const more = (count: number) => (count > 0 ? [`… and ${formatCount(count)} more`] : []);

import type { StatusRows } from "../db/read/read-status.ts";
import type { LiveRun, RunRow } from "../db/read/recent-runs.ts";
import { formatAgo, formatCount, formatElapsed, formatInstant, formatMoment, plural } from "../format.ts";
import { formatKey } from "../key.ts";
import { printable } from "../printable.ts";
import { nextStep } from "./next-step.ts";
import { formatTable, truncate } from "./table.ts";
import { nextTryOf } from "./verdict.ts";

/** The status for people. Tables are at most `columns` wide. */
export function formatStatus(rows: StatusRows, columns: number): string {
  if (rows.runs.length === 0) return `no run yet\nnext: ${nextStep(rows)}`;
  const tables = [formatRuns(rows, columns), formatFailing(rows, columns), formatRejects(rows, columns)];
  return [formatFreshness(rows), ...tables.filter((table) => table !== null), `next: ${nextStep(rows)}`].join("\n\n");
}

function formatFreshness({ now, lastGoodRun, libraries, scenarios }: StatusRows): string {
  const { live, settled, removed, neverStored, oldestContentReadAt } = libraries;
  const good =
    lastGoodRun === null
      ? "none yet"
      : `run ${lastGoodRun.id} (${lastGoodRun.status}), ${formatMoment(lastGoodRun.startedAt, now)}`;
  const others = [`${formatCount(removed)} removed`];
  if (neverStored > 0) others.push(`${formatCount(neverStored)} listed and never stored`);
  return [
    `last good run  ${good}`,
    `libraries      ${formatCount(live)} live, ${others.join(", ")}`,
    `dates          ${formatCount(settled)} settled, ${formatCount(live - settled)} not settled yet`,
    `scenarios      ${formatCount(scenarios)} live`,
    `oldest read    ${formatMoment(oldestContentReadAt, now)}`,
  ].join("\n");
}

/** The last runs, newest first, and a line for each error, with its runs, and for a run in progress. */
function formatRuns({ runs, now, liveRuns }: StatusRows, columns: number): string {
  const titles = [
    "run",
    "kind",
    { title: "status", min: 7 },
    "started",
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
    formatKind(run),
    run.status === "running" && !liveRuns.has(run.id) ? "dead" : run.status,
    formatAgo(run.startedAt, now),
    formatElapsed((run.finishedAt ?? now).getTime() - run.startedAt.getTime()),
    formatInstant(run.startedAt),
    ...[run.read, run.skipped, run.changed, run.failed, run.removed].map(formatCount),
  ]);
  const notes = runs
    .map((run) => [run.id, formatNote(run, liveRuns.get(run.id))] as const)
    .filter(([, note]) => note !== null);
  const ids = new Map<string | null, number[]>();
  for (const [id, note] of notes) ids.set(note, [...(ids.get(note) ?? []), id]);
  const lines = [...ids].map(([note, of]) =>
    truncate(`${of.length === 1 ? "run" : "runs"} ${of.join(", ")}: ${note}`, columns),
  );
  return [formatTable(titles, rows, columns), ...lines].join("\n");
}

/** The kind of a run and which part of the organization it concerns. */
export function formatKind({ kind, scope }: RunRow): string {
  if (scope === null) return kind;
  return scope.slice === undefined ? `${kind} (selected)` : `${kind} (slice ${scope.slice})`;
}

function formatNote({ status, error }: RunRow, live: LiveRun | undefined): string | null {
  if (status === "running") {
    if (live === undefined) return "its process has ended; the next run marks it as abandoned";
    const { holder, read, known } = live;
    return `in progress, by ${printable(holder)}; ${formatCount(read)} of ${plural(known, "known library", "known libraries")} read`;
  }
  const [firstLine = ""] = (error ?? "").split("\n");
  return firstLine === "" ? null : printable(firstLine);
}

/** The libraries whose last read failed; null if there are none. */
function formatFailing({ failing, now }: StatusRows, columns: number): string | null {
  if (failing.total === 0) return null;
  const titles = ["library", "in a row", "failed", "next try", "last good copy", "error"];
  const rows = failing.shown.map((library) => {
    const { owner, name, failures, lastFailedAt, lastSuccessAt, lastError } = library;
    const nextTry = nextTryOf(library);
    return [
      formatKey({ owner, name }),
      formatCount(failures),
      lastFailedAt === null ? "" : formatAgo(lastFailedAt, now),
      nextTry === null || nextTry <= now ? "next run" : formatAgo(nextTry, now),
      lastSuccessAt === null ? "never" : formatAgo(lastSuccessAt, now),
      lastError ?? "",
    ];
  });
  return [
    `${plural(failing.total, "library fails", "libraries fail")}`,
    formatTable(titles, rows, columns),
    ...formatRest(failing.total - failing.shown.length),
  ].join("\n");
}

/** The open rejects, by library and code; null if there are none. */
function formatRejects({ rejects, now }: StatusRows, columns: number): string | null {
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
    ...formatRest(rejects.groups - rejects.shown.length),
  ].join("\n");
}

const formatRest = (count: number) => (count > 0 ? [`… and ${formatCount(count)} more`] : []);

/** The status for machines, under the names of the tables' columns. */
export function toStatusJson(rows: StatusRows) {
  const { now, runs, lastGoodRun, holder, libraries, scenarios, failing, rejects } = rows;
  return {
    now,
    last_good_run: lastGoodRun === null ? null : toRunRowJson(lastGoodRun, rows),
    lease_holder: holder,
    libraries: {
      live: libraries.live,
      settled: libraries.settled,
      unsettled: libraries.live - libraries.settled,
      removed: libraries.removed,
      never_stored: libraries.neverStored,
      failing: failing.total,
      oldest_content_read_at: libraries.oldestContentReadAt,
    },
    scenarios: { live: scenarios },
    runs: runs.map((run) => toRunRowJson(run, rows)),
    failing: failing.shown.map((library) => ({
      owner: library.owner,
      library: library.name,
      failures: library.failures,
      last_failed_at: library.lastFailedAt,
      next_read_due_at: nextTryOf(library),
      last_success_at: library.lastSuccessAt,
      last_error: library.lastError,
    })),
    open_rejects: rejects.total,
    open_reject_groups: rejects.groups,
    rejects: rejects.shown.map(({ owner, name, kind, code, count, firstSeenAt }) => ({
      owner,
      library: name,
      kind,
      code,
      count,
      first_seen_at: firstSeenAt,
    })),
    next: nextStep(rows),
  };
}

function toRunRowJson(run: RunRow, { now, liveRuns }: StatusRows) {
  const live = liveRuns.get(run.id);
  return {
    id: run.id,
    kind: run.kind,
    scope: run.scope,
    status: run.status,
    dead: run.status === "running" && live === undefined,
    started_at: run.startedAt,
    finished_at: run.finishedAt,
    duration_ms: (run.finishedAt ?? now).getTime() - run.startedAt.getTime(),
    libraries_read: live?.read ?? run.read,
    libraries_skipped: run.skipped,
    libraries_changed: run.changed,
    libraries_failed: run.failed,
    libraries_removed: run.removed,
    error: run.error,
  };
}

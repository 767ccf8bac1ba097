import type { StatusRows } from "../db/read/read-status.ts";
import type { RunRow } from "../db/read/recent-runs.ts";
import { formatCount, formatElapsed, plural } from "./amounts.ts";
import { type Html, html } from "./html/html.ts";
import { formatOutcome, outcomeOf } from "./html/outcome.ts";
import { htmlTable } from "./html/table.ts";
import { foreign, libraryName } from "./html/text.ts";
import { ago } from "./html/when.ts";

/** Below the chart, which shows more of them. */
const RUNS = 8;
const ERROR_LENGTH = 160;

/** The last runs in numbers, and how each ended that did not end well. */
export function runsSection(runs: readonly RunRow[], now: Date): Html {
  const columns = [
    { title: "run" },
    { title: "ended" },
    { title: "begun" },
    { title: "took", isNumber: true },
    { title: "read", isNumber: true },
    { title: "changed", isNumber: true },
    { title: "failed", isNumber: true },
    { title: "remark" },
  ];
  const rows = runs
    .slice(0, RUNS)
    .map((run) => [
      html`<span class="nowrap">${run.id} <small>${run.kind}${run.scope === null ? "" : " of some"}</small></span>`,
      formatOutcome(outcomeOf(run.status)),
      ago(run.startedAt, now),
      formatElapsed((run.finishedAt ?? now).getTime() - run.startedAt.getTime()),
      formatCount(run.read),
      formatCount(run.changed),
      formatCount(run.failed),
      run.error === null ? "" : foreign(run.error, ERROR_LENGTH),
    ]);
  return htmlTable(columns, rows);
}

/** What fails, and for how long; null when nothing does. */
export function failingSection({ failing, now }: StatusRows): Html | null {
  if (failing.total === 0) return null;
  const columns = [
    { title: "library" },
    { title: "last good copy" },
    { title: "failed in a row", isNumber: true },
    { title: "last error" },
  ];
  const rows = failing.shown.map(({ owner, name, failures, lastSuccessAt, lastError }) => [
    libraryName({ owner, name }),
    ago(lastSuccessAt, now),
    formatCount(failures),
    foreign(lastError ?? "", ERROR_LENGTH),
  ]);
  return html`<h2>${plural(failing.total, "library fails", "libraries fail")}</h2>
${htmlTable(columns, rows)}
${more(failing.total - failing.shown.length)}`;
}

/** What the service sent and could not be stored; null when there is nothing. */
export function rejectsSection({ rejects, now }: StatusRows): Html | null {
  if (rejects.total === 0) return null;
  const columns = [
    { title: "library" },
    { title: "kind" },
    { title: "code" },
    { title: "rejects", isNumber: true },
    { title: "first seen" },
  ];
  const rows = rejects.shown.map(({ owner, name, kind, code, count, firstSeenAt }) => [
    owner === null || name === null ? "(none)" : libraryName({ owner, name }),
    kind,
    code,
    formatCount(count),
    ago(firstSeenAt, now),
  ]);
  return html`<h2>${plural(rejects.total, "open reject")}</h2>
${htmlTable(columns, rows)}
${more(rejects.groups - rejects.shown.length)}`;
}

function more(count: number): Html | null {
  return count > 0 ? html`<p class="soft">… and ${formatCount(count)} more; see: simcat status</p>` : null;
}

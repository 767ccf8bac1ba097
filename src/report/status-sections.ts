import type { StatusRows } from "../db/read/read-status.ts";
import type { RunRow } from "../db/read/recent-runs.ts";
import { formatCount, formatElapsed, plural } from "../format.ts";
import { htmlTable, libraryName } from "./html/elements.ts";
import { failingList } from "./html/failing-list.ts";
import { type Html, html } from "./html/html.ts";
import { badgeOf, formatBadge } from "./html/status-badge.ts";
import { timeAndAge } from "./html/times.ts";

/** The time until the end of the run, or until now. */
export const durationOf = ({ startedAt, finishedAt }: RunRow, now: Date) =>
  (finishedAt ?? now).getTime() - startedAt.getTime();

/** A table of the last runs, with the older ones behind a summary. */
export function runsSection(runs: readonly RunRow[], now: Date): Html {
  const newest = runs.slice(0, MAX_RUNS);
  const older = runs.slice(MAX_RUNS);
  if (older.length === 0) return runsTable(newest, now);
  return html`${runsTable(newest, now)}
<details><summary>${plural(older.length, "older run")}</summary>${runsTable(older, now)}</details>`;
}

const MAX_RUNS = 8;

function runsTable(runs: readonly RunRow[], now: Date): Html {
  const columns = [
    { title: "run" },
    { title: "status" },
    { title: "started (UTC)" },
    { title: "took", isNumber: true },
    { title: "read", isNumber: true },
    { title: "changed", isNumber: true },
    { title: "failed", isNumber: true },
  ];
  const rows = runs.map((run) => [
    html`<span class="nowrap">${run.id} <small>${run.kind}${run.scope === null ? "" : " (selected)"}</small></span>`,
    formatBadge(badgeOf(run.status)),
    timeAndAge(run.startedAt, now),
    formatElapsed(durationOf(run, now)),
    formatCount(run.read),
    formatCount(run.changed),
    formatCount(run.failed),
  ]);
  return htmlTable(columns, rows);
}

/** The libraries whose last read failed; null if there are none. */
export function failingSection({ failing, now }: StatusRows): Html | null {
  if (failing.total === 0) return null;
  const libraries = failing.shown.map((library) => ({ ...library, lastGoodAt: library.lastSuccessAt }));
  return html`<section class="wide"><h2>${plural(failing.total, "library fails", "libraries fail")}</h2>
${failingList(libraries, failing.total, (at) => timeAndAge(at, now), "simcat status")}</section>`;
}

/** A table of the open rejects, by library and code; null if there are none. */
export function rejectsSection({ rejects, now }: StatusRows): Html | null {
  if (rejects.total === 0) return null;
  const columns = [
    { title: "library" },
    { title: "kind" },
    { title: "code" },
    { title: "rejects", isNumber: true },
    { title: "first seen (UTC)" },
  ];
  const rows = rejects.shown.map(({ owner, name, kind, code, count, firstSeenAt }) => [
    owner === null || name === null ? "(none)" : libraryName({ owner, name }),
    html`<span class="nowrap">${kind}</span>`,
    html`<span class="nowrap">${code}</span>`,
    formatCount(count),
    timeAndAge(firstSeenAt, now),
  ]);
  const left = rejects.groups - rejects.shown.length;
  return html`<section class="wide"><h2>${plural(rejects.total, "open reject")}</h2>
${htmlTable(columns, rows)}
${left > 0 ? html`<p class="soft">… and ${formatCount(left)} more; see simcat status.</p>` : null}</section>`;
}

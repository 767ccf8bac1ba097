import type { StatusRows } from "../db/read/read-status.ts";
import type { RunRow } from "../db/read/recent-runs.ts";
import { formatCount, formatElapsed, plural } from "../format.ts";
import { foreignText, htmlTable, libraryName, timeAgo } from "./html/elements.ts";
import { type Html, html } from "./html/html.ts";
import { badgeOf, formatBadge } from "./html/status-badge.ts";

/** The chart above the table shows more runs. */
const MAX_RUNS = 8;
const MAX_ERROR_CHARS = 160;

/** A table of the last runs. */
export function runsSection(runs: readonly RunRow[], now: Date): Html {
  const columns = [
    { title: "run" },
    { title: "status" },
    { title: "started" },
    { title: "took", isNumber: true },
    { title: "read", isNumber: true },
    { title: "changed", isNumber: true },
    { title: "failed", isNumber: true },
    { title: "message" },
  ];
  const rows = runs
    .slice(0, MAX_RUNS)
    .map((run) => [
      html`<span class="nowrap">${run.id} <small>${run.kind}${run.scope === null ? "" : " (selected)"}</small></span>`,
      formatBadge(badgeOf(run.status)),
      timeAgo(run.startedAt, now),
      formatElapsed((run.finishedAt ?? now).getTime() - run.startedAt.getTime()),
      formatCount(run.read),
      formatCount(run.changed),
      formatCount(run.failed),
      run.error === null ? "" : foreignText(run.error, MAX_ERROR_CHARS),
    ]);
  return htmlTable(columns, rows);
}

/** A table of the libraries whose last read failed; null if there are none. */
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
    timeAgo(lastSuccessAt, now),
    formatCount(failures),
    foreignText(lastError ?? "", MAX_ERROR_CHARS),
  ]);
  return html`<h2>${plural(failing.total, "library fails", "libraries fail")}</h2>
${htmlTable(columns, rows)}
${formatRest(failing.total - failing.shown.length)}`;
}

/** A table of the open rejects, by library and code; null if there are none. */
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
    html`<span class="nowrap">${kind}</span>`,
    html`<span class="nowrap">${code}</span>`,
    formatCount(count),
    timeAgo(firstSeenAt, now),
  ]);
  return html`<h2>${plural(rejects.total, "open reject")}</h2>
${htmlTable(columns, rows)}
${formatRest(rejects.groups - rejects.shown.length)}`;
}

function formatRest(count: number): Html | null {
  return count > 0 ? html`<p class="soft">… and ${formatCount(count)} more; see: simcat status</p>` : null;
}

import type { ReportRows } from "../../db/read/read-report.ts";
import { formatAgo, formatCount, formatElapsed, formatSpan, plural } from "../../format.ts";
import { foreignText, htmlTable, timeAgo } from "../html/elements.ts";
import { html } from "../html/html.ts";
import { runChart } from "../html/run-chart.ts";
import { badgeOf, formatBadge } from "../html/status-badge.ts";
import type { Section } from "./section.ts";

const MAX_LISTED_RUNS = 5;
const MAX_ERROR_CHARS = 200;

/** The durations and statuses of simcat's runs. A filter by owner does not apply to them. */
export function runsSection({ now, since, runs, endings }: ReportRows): Section | null {
  if (runs.length === 0) return null;
  const span = formatSpan(now.getTime() - since.getTime());
  const bars = runs.map((run) => ({
    label: `run ${run.id}, ${formatAgo(run.startedAt, now)}`,
    status: run.status,
    durationMs: run.durationMs,
  }));
  const counts = endings.map(({ status, runs: count }) => {
    const { variant, label } = badgeOf(status);
    return html`<li>${formatBadge({ variant, label: `${formatCount(count)} ${label}` })}</li>`;
  });
  const unsuccessful = runs
    .filter(({ status }) => !isSuccess(status))
    .slice(-MAX_LISTED_RUNS)
    .toReversed()
    .map((run) => [
      html`<span class="nowrap">${run.id} <small>${run.kind}</small></span>`,
      formatBadge(badgeOf(run.status)),
      timeAgo(run.startedAt, now),
      formatElapsed(run.durationMs),
      run.error === null ? "" : foreignText(run.error, MAX_ERROR_CHARS),
    ]);
  const titles = [
    { title: "run" },
    { title: "status" },
    { title: "started" },
    { title: "took", isNumber: true },
    { title: "message" },
  ];
  return {
    id: "runs",
    finding: findingOf(endings, span),
    body: html`${runChart(bars)}
${counts.length === 0 ? null : html`<ul class="legend"><li class="soft">in the last ${span}:</li>${counts}</ul>`}
${unsuccessful.length === 0 ? null : htmlTable(titles, unsuccessful)}`,
  };
}

const isSuccess = (status: string) => status === "ok" || status === "running";

function findingOf(endings: ReportRows["endings"], span: string): string {
  const sum = (isCounted: (status: string) => boolean) =>
    endings.reduce((total, { status, runs }) => total + (isCounted(status) ? runs : 0), 0);
  const all = sum(() => true);
  const unsuccessful = sum((status) => !isSuccess(status));
  if (all === 0) return `No run in the last ${span}`;
  if (unsuccessful > 0)
    return `${formatCount(unsuccessful)} of ${plural(all, "run")} in the last ${span} did not succeed`;
  if (all === 1) return `The only run of the last ${span} succeeded`;
  return all === 2
    ? `Both runs of the last ${span} succeeded`
    : `All ${formatCount(all)} runs of the last ${span} succeeded`;
}

import type { ReportRows } from "../../db/read/read-report.ts";
import { formatCount, formatElapsed, plural } from "../amounts.ts";
import { html } from "../html/html.ts";
import { formatOutcome, outcomeOf } from "../html/outcome.ts";
import { runChart } from "../html/run-chart.ts";
import { htmlTable } from "../html/table.ts";
import { foreign } from "../html/text.ts";
import { ago } from "../html/when.ts";
import { formatAgo } from "../moments.ts";
import { inWords, type Section } from "./section.ts";

const TOLD = 5;
const ERROR_LENGTH = 200;

/** How simcat's own runs ended. They are of the whole organization, whoever's libraries the page is of. */
export function runsSection({ now, since, runs, endings }: ReportRows): Section | null {
  if (runs.length === 0) return null;
  const span = inWords(now.getTime() - since.getTime());
  const finding = findingOf(endings, span);
  const bars = runs.map((run) => ({
    label: `run ${run.id}, ${formatAgo(run.startedAt, now)}`,
    status: run.status,
    durationMs: run.durationMs,
  }));
  const counts = endings.map(({ status, runs: count }) => {
    const { tone, words } = outcomeOf(status);
    return html`<li>${formatOutcome({ tone, words: `${formatCount(count)} ${words}` })}</li>`;
  });
  const bad = runs.filter(({ status }) => !isGood(status)).slice(-TOLD);
  const told = bad
    .toReversed()
    .map((run) => [
      html`<span class="nowrap">${run.id} <small>${run.kind}</small></span>`,
      formatOutcome(outcomeOf(run.status)),
      ago(run.startedAt, now),
      formatElapsed(run.durationMs),
      run.error === null ? "" : foreign(run.error, ERROR_LENGTH),
    ]);
  const titles = [
    { title: "run" },
    { title: "ended" },
    { title: "begun" },
    { title: "took", isNumber: true },
    { title: "remark" },
  ];
  return {
    id: "runs",
    finding,
    body: html`${runChart(bars)}
${counts.length === 0 ? null : html`<ul class="legend"><li class="soft">in the last ${span}:</li>${counts}</ul>`}
${told.length === 0 ? null : htmlTable(titles, told)}`,
  };
}

const isGood = (status: string) => status === "ok" || status === "running";

function findingOf(endings: ReportRows["endings"], span: string): string {
  const sum = (of: (status: string) => boolean) =>
    endings.reduce((total, { status, runs }) => total + (of(status) ? runs : 0), 0);
  const all = sum(() => true);
  const bad = sum((status) => !isGood(status));
  if (all === 0) return `No run in the last ${span}`;
  if (bad > 0) return `${formatCount(bad)} of ${plural(all, "run")} in the last ${span} did not go well`;
  if (all === 2) return `Both runs of the last ${span} went well`;
  return all === 1
    ? `The one run of the last ${span} went well`
    : `All ${formatCount(all)} runs of the last ${span} went well`;
}

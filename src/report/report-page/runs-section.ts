import { sum } from "d3-array";
import { formatAll, formatCount, formatLast, plural } from "../../format.ts";
import type { RunStatus } from "../../run-summary.ts";
import { badgeOf, formatBadge } from "../html/badges.ts";
import { timeOf } from "../html/elements.ts";
import { html } from "../html/html.ts";
import { formatRunDuration, isSuccess, runsFigure, unsuccessfulRuns } from "../html/runs-figure.ts";
import { MAX_REPORT_RUNS } from "./facts.ts";
import { numbersTable, type Section } from "./section.ts";

/** The durations and statuses of simcat's runs. A filter by owner does not apply to them. */
export const runsSection: Section<{ endings: { status: RunStatus; runs: number } }> = {
  id: "runs",
  queries: {
    endings:
      "SELECT status, count(*) AS runs FROM simcat_report.run_history WHERE coalesce(finished_at, now()) >= $since GROUP BY 1",
  },
  finding({ now, since, runs, endings }) {
    if (runs.length === 0) return null;
    const span = formatLast(now.getTime() - since.getTime());
    const running = sum(endings, ({ status, runs: count }) => (status === "running" ? count : 0));
    const all = sum(endings, (ending) => ending.runs) - running;
    const unsuccessful = sum(endings, (ending) => (isSuccess(ending.status) ? 0 : ending.runs));
    const rest = running === 0 ? "" : `; ${plural(running, "run has", "runs have")} not ended`;
    if (all === 0) return `No run ${running === 0 ? "" : "ended "}in the ${span}${rest}`;
    if (all === 1)
      return `The only run of the ${span} ${unsuccessful === 0 ? "succeeded" : "did not end with ok"}${rest}`;
    if (unsuccessful > 0)
      return `${formatCount(unsuccessful)} of ${plural(all, "run")} in the ${span} did not end with ok${rest}`;
    return `${formatAll(all)} runs of the ${span} succeeded${rest}`;
  },
  figure: ({ runs: newest, since, endings }) => {
    // Of the period that the heading counts; if there are none, the last ones before it.
    const last = newest.slice(-MAX_REPORT_RUNS);
    const inPeriod = last.filter((run) => run.startedAt.getTime() + run.durationMs >= since.getTime());
    const runs = inPeriod.length === 0 ? last : inPeriod;
    const total = sum(endings, (ending) => (ending.status === "abandoned" ? 0 : ending.runs));
    return html`${runsFigure(runs, total)}
${unsuccessfulRuns(runs)}
${numbersTable(runs.toReversed(), [
  ["run", ({ id, kind }) => html`<span class="nowrap">${id} <small>${kind}</small></span>`],
  ["status", ({ status }) => formatBadge(badgeOf(status))],
  ["started (UTC)", ({ startedAt }) => timeOf(startedAt)],
  ["took", formatRunDuration, "number"],
])}`;
  },
};

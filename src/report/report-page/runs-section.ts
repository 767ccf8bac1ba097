import type { ReportRows } from "../../db/read/read-report.ts";
import { formatCount, formatElapsed, formatSpan, plural } from "../../format.ts";
import type { RunStatus } from "../../run-summary.ts";
import { html } from "../html/html.ts";
import { isSuccess, runsFigure, unsuccessfulRuns } from "../html/runs-figure.ts";
import { badgeOf, formatBadge } from "../html/status-badge.ts";
import { timeOf } from "../html/times.ts";
import { note, numbersTable, type Section } from "./section.ts";

/** The durations and statuses of simcat's runs. A filter by owner does not apply to them. */
export function runsSection({ now, since, runs, endings, owners }: ReportRows): Section | null {
  if (runs.length === 0) return null;
  const rows = runs
    .toReversed()
    .map((run) => [
      html`<span class="nowrap">${run.id} <small>${run.kind}</small></span>`,
      formatBadge(badgeOf(run.status)),
      timeOf(run.startedAt),
      formatElapsed(run.durationMs),
    ]);
  const titles = [{ title: "run" }, { title: "status" }, { title: "started (UTC)" }, { title: "took", isNumber: true }];
  return {
    id: "runs",
    finding: findingOf(endings, formatSpan(now.getTime() - since.getTime())),
    body: html`${runsFigure(runs)}
${owners.length === 0 ? null : note("Runs are not filtered by owner.")}
${unsuccessfulRuns(runs)}
${numbersTable(titles, rows)}`,
  };
}

function findingOf(endings: ReportRows["endings"], span: string): string {
  const sum = (isCounted: (status: RunStatus) => boolean) =>
    endings.reduce((total, { status, runs }) => total + (isCounted(status) ? runs : 0), 0);
  const all = sum(() => true);
  const unsuccessful = sum((status) => !isSuccess(status));
  if (all === 0) return `No run in the last ${span}`;
  if (all === 1) return `The only run of the last ${span} ${unsuccessful === 0 ? "succeeded" : "did not succeed"}`;
  if (unsuccessful > 0)
    return `${formatCount(unsuccessful)} of ${plural(all, "run")} in the last ${span} did not succeed`;
  return all === 2
    ? `Both runs of the last ${span} succeeded`
    : `All ${formatCount(all)} runs of the last ${span} succeeded`;
}

import { extent, group, range } from "d3-array";
import { scaleLog } from "d3-scale";
import type { RunRow } from "../../db/read/recent-runs.ts";
import { formatCount, formatElapsed } from "../../format.ts";
import type { RunStatus } from "../../run-summary.ts";
import { MINUTE_MS } from "../../units.ts";
import { plot, timeAxis, UPWARD } from "../charts.ts";
import { badgeOf, formatBadge, shapeAt } from "./badges.ts";
import { errorText, formatMinute, listOf, timeOf } from "./elements.ts";
import { type Html, html } from "./html.ts";

export type DrawnRun = Pick<RunRow, "id" | "kind" | "scope" | "status" | "startedAt" | "durationMs" | "error">;

/** Nothing records when a process died. */
const hasDuration = ({ status }: DrawnRun) => status !== "abandoned";

export const formatRunDuration = (run: DrawnRun) => (hasDuration(run) ? formatElapsed(run.durationMs) : "");

/** By the variant of a badge. */
const MEANINGS = {
  ok: "ok",
  partial: "partial: libraries failed, have rejects or await a second read",
  held: "held: a guard held removals",
  failed: "failed",
  neutral: "stopped early",
  running: "running, or its process died",
};

/**
 * Runs by their start and duration, the oldest first. A few runs are a sentence.
 * @param total how many there are, if that is more, without abandoned ones
 */
export function runsFigure(drawn: readonly DrawnRun[], total = 0): Html | null {
  const runs = drawn.filter(hasDuration);
  const [first, last] = [runs[0], runs.at(-1)];
  if (first === undefined || last === undefined) return null;
  const [from, to] = [formatMinute(first.startedAt), formatMinute(last.startedAt)];
  // Fewer dots show no pattern.
  if (runs.length < 5) {
    const took = new Set(extent(runs, ({ durationMs }) => durationMs).map((ms) => formatElapsed(ms ?? 0)));
    const which = first === last ? `One run, at ${from}` : `${formatCount(runs.length)} runs, from ${from} to ${to}`;
    const soFar = runs.some(({ status }) => status === "running") ? " so far" : "";
    return html`<p class="soft">${which} (UTC), took ${[...took].join(" to ")}${soFar}.</p>`;
  }
  const count = total > runs.length ? `${formatCount(runs.length)} of ${formatCount(total)}` : formatCount(runs.length);
  const label = `The last ${count} runs, from ${from} to ${to}.`;
  const legend = [...group(runs, ({ status }) => badgeOf(status).variant)].map(([variant, { length }]) => {
    return html`<li>${formatBadge({ variant, label: `${length} ${MEANINGS[variant]}` })}</li>`;
  });
  return html`<figure>${runsChart(runs, label)}
<ul class="legend">${legend}</ul>
<figcaption class="soft">${label}${total > runs.length ? " The view simcat_report.run_history has all." : ""} Start (UTC) and duration; the axis of seconds is logarithmic.</figcaption></figure>`;
}

/** A dot for each run. The axis of durations is logarithmic, because a full run takes far longer than an empty one. */
export function runsChart(runs: readonly DrawnRun[], label: string): Html {
  const secondsOf = ({ durationMs }: DrawnRun) => Math.max(0.01, durationMs / 1000);
  const [shortest = 1, longest = 1] = extent(runs, secondsOf);
  const [lowest, highest] = [Math.floor(Math.log10(shortest)), Math.floor(Math.log10(longest)) + 1];
  const decades = range(lowest, highest + 1).map((power) => 10 ** power);
  const [first = new Date(0), last = first] = extent(runs, ({ startedAt }) => startedAt);
  // The same distance from both edges, also if all runs began at one time.
  const marginMs = Math.max(5 * MINUTE_MS, (last.getTime() - first.getTime()) / 30);
  const x = timeAxis(new Date(first.getTime() - marginMs), new Date(last.getTime() + marginMs));
  const y = scaleLog([10 ** lowest, 10 ** highest], UPWARD);
  const ticks = decades.map((value) => ({ value, text: String(value) }));
  const dots = runs.map((run) => {
    const { variant, label: outcome } = badgeOf(run.status);
    const title = `${run.kind} ${run.id}, ${formatMinute(run.startedAt)}: ${outcome}, ${formatElapsed(run.durationMs)}`;
    return html`<g><title>${title}</title>${shapeAt(variant, x.scale(run.startedAt), y(secondsOf(run)), 9)}</g>`;
  });
  return plot({ label, unit: "seconds", x, y: { scale: y, ticks } }, dots);
}

/** The newest five runs that did not end with ok, with their whole messages; null if there are none. */
export function unsuccessfulRuns(runs: readonly DrawnRun[]): Html | null {
  const shown = runs.filter(({ status }) => !isSuccess(status)).slice(-5);
  if (shown.length === 0) return null;
  const items = shown.toReversed().map((run) => {
    const { id, kind, status, startedAt, error } = run;
    const took = hasDuration(run) ? html`, <span class="nowrap">took ${formatRunDuration(run)}</span>` : null;
    const when = html`${kind} ${id}, started ${timeOf(startedAt)}${took}`;
    return [html`${formatBadge(badgeOf(status))} <small>${when}</small>`, error && errorText(error)];
  });
  return html`<h3>The last ${shown.length === 1 ? "run" : `${shown.length} runs`} that did not end with ok (UTC)</h3>${listOf(items)}`;
}

export const isSuccess = (status: RunStatus) => status === "ok" || status === "running";

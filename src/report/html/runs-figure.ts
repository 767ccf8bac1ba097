import { rollup } from "d3-array";
import { formatCount, formatElapsed } from "../../format.ts";
import type { RunStatus } from "../../run-summary.ts";
import { dotChart } from "../charts/dot-chart.ts";
import { errorText } from "./elements.ts";
import { type Html, html } from "./html.ts";
import { badgeOf, formatBadge, type StatusBadge } from "./status-badge.ts";
import { formatMinute, timeOf } from "./times.ts";

interface DrawnRun {
  readonly id: number;
  readonly kind: string;
  readonly status: RunStatus;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly error: string | null;
}

const MAX_LISTED_RUNS = 5;

const MEANINGS: Readonly<Record<StatusBadge["variant"], string>> = {
  ok: "ok",
  partial: "partial: some libraries failed or have rejects",
  held: "held: a guard held removals",
  failed: "failed",
  neutral: "stopped early",
  running: "running",
};

/** Runs by their start and duration, the oldest first. A single one is a sentence, unless it is listed as unsuccessful. */
export function runsFigure(runs: readonly DrawnRun[]): Html | null {
  const [first] = runs;
  if (first === undefined) return null;
  const last = runs.at(-1) ?? first;
  if (first === last) return isSuccess(first.status) ? onlyRun(first) : null;
  const label = `The last ${formatCount(runs.length)} runs, from ${formatMinute(first.startedAt)} to ${formatMinute(last.startedAt)}.`;
  const dots = runs.map(({ id, kind, status, startedAt, durationMs }) => {
    const { variant, label: outcome } = badgeOf(status);
    return { at: startedAt, durationMs, variant, title: `${kind} ${id}, ${formatMinute(startedAt)}: ${outcome}` };
  });
  const counts = rollup(
    dots,
    (group) => group.length,
    ({ variant }) => variant,
  );
  const legend = [...counts].map(
    ([variant, count]) => html`<li>${formatBadge({ variant, label: `${count} ${MEANINGS[variant]}` })}</li>`,
  );
  return html`<figure>${dotChart({ label, dots })}
<ul class="legend">${legend}</ul>
<figcaption class="soft">${label} Start (UTC) and duration; the axis of seconds is logarithmic.</figcaption></figure>`;
}

function onlyRun({ status, startedAt, durationMs }: DrawnRun): Html {
  const duration = `${status === "running" ? "has been running for" : "took"} ${formatElapsed(durationMs)}`;
  return html`<p>${formatBadge(badgeOf(status))} The only run so far started ${timeOf(startedAt)} and <span class="nowrap">${duration}</span>.</p>`;
}

/** The newest runs that did not succeed, with their whole messages; null if all succeeded. */
export function unsuccessfulRuns(runs: readonly DrawnRun[]): Html | null {
  const shown = runs.filter(({ status }) => !isSuccess(status)).slice(-MAX_LISTED_RUNS);
  if (shown.length === 0) return null;
  const items = shown.toReversed().map(({ id, kind, status, startedAt, durationMs, error }) => {
    const when = html`${kind} ${id}, started ${timeOf(startedAt)}, <span class="nowrap">took ${formatElapsed(durationMs)}</span>`;
    return html`<li>${formatBadge(badgeOf(status))} <small>${when}</small>${error === null ? null : html`<p>${errorText(error)}</p>`}</li>\n`;
  });
  return html`<h3>${shown.length === 1 ? "The run that" : `The last ${shown.length} runs that`} did not succeed (UTC)</h3><ul class="items">${items}</ul>`;
}

export const isSuccess = (status: RunStatus) => status === "ok" || status === "running";

import { formatElapsed } from "../../format.ts";
import type { RunStatus } from "../../run-report.ts";
import { type Html, html } from "./html.ts";
import { badgeOf, formatBadge, type StatusBadge, shapeAt } from "./status-badge.ts";

interface RunBar {
  /** Such as `run 12, 3 min ago`. */
  readonly label: string;
  readonly status: RunStatus;
  readonly durationMs: number;
}

/** Together 360 units, about the width of a phone, so that the shapes keep their size there. */
const MAX_BARS = 30;
const BAR_STEP = 12;
const HEIGHT = 84;

/** A bar chart of runs, the oldest first. Heights are square roots, so that one long run does not hide the others. */
export function runChart(runs: readonly RunBar[]): Html {
  const shown = runs.slice(-MAX_BARS);
  const longestMs = Math.max(1, ...shown.map((run) => run.durationMs));
  const bars = shown.map((run, index) =>
    formatBar(run, index * BAR_STEP, Math.sqrt(Math.max(0, run.durationMs) / longestMs)),
  );
  const badges = new Map(shown.map(({ status }) => [badgeOf(status).variant, badgeOf(status)]));
  const caption =
    shown.length === 1
      ? `The only run so far took ${formatElapsed(longestMs)}.`
      : `The last ${shown.length} runs, the newest on the right. The height is the square root of the duration; the longest took ${formatElapsed(longestMs)}.`;
  return html`<figure>
<svg class="runs" viewBox="0 0 ${MAX_BARS * BAR_STEP} ${HEIGHT + 14}" role="img" aria-label="${caption}">${bars}</svg>
<figcaption class="soft">${caption}</figcaption>
<ul class="legend">${[...badges.values()].map(formatLegend)}</ul>
</figure>`;
}

function formatBar({ label, status, durationMs }: RunBar, x: number, share: number): Html {
  const badge = badgeOf(status);
  const height = Math.max(2, Math.round(share * (HEIGHT - 4)));
  return html`<g><title>${label}: ${badge.label}, ${formatElapsed(durationMs)}</title><rect class="state-${badge.variant}" x="${x + 2}" y="${HEIGHT - height}" width="${BAR_STEP - 4}" height="${height}"/>${shapeAt(badge.variant, x + 2, HEIGHT + 3, 8)}</g>`;
}

const LEGENDS: Readonly<Record<StatusBadge["variant"], string>> = {
  ok: "ok",
  partial: "partial: some libraries failed or have rejects",
  held: "held: a guard held removals",
  failed: "failed",
  neutral: "stopped early",
  running: "running",
};

const formatLegend = ({ variant }: StatusBadge) => html`<li>${formatBadge({ variant, label: LEGENDS[variant] })}</li>`;

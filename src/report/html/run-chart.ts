import type { RunStatus } from "../../model.ts";
import { formatElapsed } from "../amounts.ts";
import { type Html, html } from "./html.ts";
import { formatOutcome, type Outcome, outcomeOf, shapeAt } from "./outcome.ts";

export interface RunBar {
  /** Such as `run 12, 3 min ago`. */
  readonly label: string;
  readonly status: RunStatus;
  readonly durationMs: number;
}

/** Columns of this width fill 360: about a phone's, so that shapes are as large there as they were drawn. */
const MOST = 30;
const STEP = 12;
const HEIGHT = 84;

/** Durations and outcomes of runs, the oldest first, as bars. Heights go by the square root: one long run leaves the others visible. */
export function runChart(runs: readonly RunBar[]): Html {
  const shown = runs.slice(-MOST);
  const tallest = Math.max(1, ...shown.map((run) => run.durationMs));
  const bars = shown.map((run, at) => bar(run, at * STEP, Math.sqrt(Math.max(0, run.durationMs) / tallest)));
  const tones = new Map(shown.map(({ status }) => [outcomeOf(status).tone, outcomeOf(status)]));
  const said =
    shown.length === 1
      ? `The one run so far; it took ${formatElapsed(tallest)}.`
      : `The last ${shown.length} runs, the newest on the right. Height: how long a run took, by the square root; the tallest ${formatElapsed(tallest)}.`;
  return html`<figure>
<svg class="runs" viewBox="0 0 ${MOST * STEP} ${HEIGHT + 14}" role="img" aria-label="${said}">${bars}</svg>
<figcaption class="soft">${said}</figcaption>
<ul class="legend">${[...tones.values()].map(legend)}</ul>
</figure>`;
}

function bar({ label, status, durationMs }: RunBar, x: number, share: number): Html {
  const { tone, words } = outcomeOf(status);
  const height = Math.max(2, Math.round(share * (HEIGHT - 4)));
  return html`<g><title>${label}: ${words}, ${formatElapsed(durationMs)}</title><rect class="state-${tone}" x="${x + 2}" y="${HEIGHT - height}" width="${STEP - 4}" height="${height}"/>${shapeAt(tone, x + 2, HEIGHT + 3, 8)}</g>`;
}

const FAMILY: Readonly<Record<Outcome["tone"], string>> = {
  ok: "ok",
  partial: "partial: some libraries failed or have rejects",
  held: "held: a guard withheld something",
  failed: "failed",
  cut: "cut short",
  running: "running",
};

const legend = ({ tone }: Outcome) => html`<li>${formatOutcome({ tone, words: FAMILY[tone] })}</li>`;

import type { RunStatus } from "../../model.ts";
import { type Html, html } from "./html.ts";

/** How a run's end looks: a colour, and a shape beside it for those who cannot tell the colours apart. */
export interface Outcome {
  readonly tone: "ok" | "partial" | "held" | "failed" | "cut" | "running";
  readonly words: string;
}

const OUTCOMES: Readonly<Record<RunStatus, Outcome>> = {
  ok: { tone: "ok", words: "ok" },
  partial: { tone: "partial", words: "partial" },
  held: { tone: "held", words: "held" },
  source_unavailable: { tone: "failed", words: "source unavailable" },
  source_untrusted: { tone: "failed", words: "source untrusted" },
  unauthorized: { tone: "failed", words: "unauthorized" },
  database_failed: { tone: "failed", words: "database failed" },
  failed: { tone: "failed", words: "failed" },
  interrupted: { tone: "cut", words: "interrupted" },
  lost_lease: { tone: "cut", words: "lost lease" },
  abandoned: { tone: "cut", words: "abandoned" },
  running: { tone: "running", words: "running" },
};

/** In a box of 10 by 10. */
const SHAPES: Readonly<Record<Outcome["tone"], string>> = {
  ok: "M5 .5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z",
  partial: "M5 .5L9.8 9.3H.2z",
  held: "M.8.8h8.4v8.4H.8z",
  failed: "M2.2.4L5 3.2 7.8.4 9.6 2.2 6.8 5 9.6 7.8 7.8 9.6 5 6.8 2.2 9.6.4 7.8 3.2 5 .4 2.2z",
  cut: "M5 .2L9.8 5 5 9.8.2 5z",
  running: "M1.5.5L9.5 5l-8 4.5z",
};

export const outcomeOf = (status: RunStatus): Outcome => OUTCOMES[status];

/** The shape at a place of an enclosing drawing. */
export function shapeAt(tone: Outcome["tone"], x: number, y: number, size: number): Html {
  return html`<path class="state-${tone}" transform="translate(${x} ${y}) scale(${size / 10})" d="${SHAPES[tone]}"/>`;
}

/** The shape and its words, as they stand in a line of text. */
export function formatOutcome({ tone, words }: Outcome): Html {
  const shape = html`<svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">${shapeAt(tone, 0, 0, 10)}</svg>`;
  return html`<span class="nowrap state-${tone}">${shape} ${words}</span>`;
}

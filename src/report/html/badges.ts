import type { RunStatus } from "../../run-summary.ts";
import { type Html, html } from "./html.ts";

/** Path data in a box of 10 by 10. The shape distinguishes the variants without color. */
const SHAPES = {
  ok: "M5 .5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z",
  partial: "M5 .5L9.8 9.3H.2z",
  held: "M.8.8h8.4v8.4H.8z",
  failed: "M2.2.4L5 3.2 7.8.4 9.6 2.2 6.8 5 9.6 7.8 7.8 9.6 5 6.8 2.2 9.6.4 7.8 3.2 5 .4 2.2z",
  neutral: "M5 .2L9.8 5 5 9.8.2 5z",
  running: "M1.5.5L9.5 5l-8 4.5z",
};
export type Variant = keyof typeof SHAPES;

/** A label with a color and a shape. */
export interface StatusBadge {
  readonly variant: Variant;
  readonly label: string;
}

const STOPPED: readonly RunStatus[] = ["interrupted", "lost_lease", "abandoned"];

const isVariant = (status: string): status is Variant => Object.hasOwn(SHAPES, status);

export function badgeOf(status: RunStatus): StatusBadge {
  const variant = isVariant(status) ? status : STOPPED.includes(status) ? "neutral" : "failed";
  return { variant, label: status.replaceAll("_", " ") };
}

/** The shape with its center at a position of an enclosing SVG. */
export function shapeAt(variant: Variant, x: number, y: number, size: number): Html {
  return html`<path class="state-${variant}" transform="translate(${x - size / 2} ${y - size / 2}) scale(${size / 10})" d="${SHAPES[variant]}"/>`;
}

/** The shape and the label, for a line of text. */
export function formatBadge({ variant, label }: StatusBadge): Html {
  const shape = html`<svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">${shapeAt(variant, 5, 5, 10)}</svg>`;
  return html`<span class="nowrap state-${variant}">${shape} ${label}</span>`;
}

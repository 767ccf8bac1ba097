import { format } from "d3-format";
import { type Html, html, type Part } from "../html/html.ts";

/** All pictures have this width, so that letters have the same size in each. A picture scales with its column. */
export const WIDTH = 400;

/** A colour of the stylesheet. A hollow shape is an outline, to be distinguishable without colour. */
export interface Paint {
  readonly tone: "first" | "second";
  readonly hollow?: boolean;
}

export const paintClass = ({ tone, hollow = false }: Paint) => `${hollow ? "hollow" : "solid"} ${tone}`;

/** The edges of the area in which values are drawn. The rest is for labels. */
export interface Plot {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** A plot with labels at the left and below. The left edge is the same for all, so that pictures below each other line up. */
export const plotOf = (height: number): Plot => ({ left: 44, right: WIDTH - 14, top: 24, bottom: height - 24 });

/** `label` describes the picture to readers who do not see it. */
export function drawing(label: string, height: number, content: Part): Html {
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${label}">${content}</svg>`;
}

/** A tenth of a unit is finer than a pixel of any screen. */
export const rounded = (position: number) => Math.round(position * 10) / 10;

export function label(x: number, y: number, text: string, anchor: "start" | "middle" | "end" = "start"): Html {
  return html`<text x="${rounded(x)}" y="${rounded(y)}"${anchor === "start" ? null : html` text-anchor="${anchor}"`}>${text}</text>`;
}

export function line(x1: number, y1: number, x2: number, y2: number, className: string): Html {
  return html`<path class="${className}" d="M${rounded(x1)} ${rounded(y1)}L${rounded(x2)} ${rounded(y2)}"/>`;
}

/** A rectangle between two corners in any order. */
export function rectangle(x1: number, y1: number, x2: number, y2: number, className: string, title: Part = null): Html {
  const [left, top] = [rounded(Math.min(x1, x2)), rounded(Math.min(y1, y2))];
  const [width, height] = [rounded(Math.abs(x2 - x1)), rounded(Math.abs(y2 - y1))];
  const content = title === null ? null : html`<title>${title}</title>`;
  return html`<rect class="${className}" x="${left}" y="${top}" width="${width}" height="${height}">${content}</rect>`;
}

interface Tick {
  readonly at: number;
  readonly text: string;
}

/** Thin lines across the plot with their values at the left, and the unit above. */
export function verticalAxis(ticks: readonly Tick[], unit: string, { left, right, top }: Plot): Html {
  const lines = ticks.map(({ at, text }) => [line(left, at, right, at, "grid"), label(left - 6, at + 4, text, "end")]);
  return html`${label(0, top - 12, unit)}${lines}`;
}

/** The lower edge of the plot with values below. A value at an end stays inside the picture. */
export function horizontalAxis(ticks: readonly Tick[], { left, right, bottom }: Plot): Html {
  const marks = ticks.map(({ at, text }) => {
    const anchor = at > right - 16 ? "end" : at < left + 16 ? "start" : "middle";
    const x = anchor === "end" ? right + 12 : anchor === "start" ? left - 8 : at;
    return [line(at, bottom, at, bottom + 4, "axis"), label(x, bottom + 18, text, anchor)];
  });
  return html`${line(left, bottom, right, bottom, "axis")}${marks}`;
}

/** `200`, `1.5k`, `2M`: at most five characters, for the left margin. */
export const formatTick = format("~s");

/** As many steps as have room, but none that is a fraction of a whole thing. */
export const wholeSteps = (largest: number) => Math.max(1, Math.min(4, Math.floor(largest)));

export interface LegendItem extends Paint {
  readonly name: string;
}

export function legend(items: readonly LegendItem[]): Html {
  const entries = items.map(
    (item) =>
      html`<li><svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">${rectangle(1, 1, 9, 9, paintClass(item))}</svg> ${item.name}</li>`,
  );
  return html`<ul class="legend">${entries}</ul>`;
}

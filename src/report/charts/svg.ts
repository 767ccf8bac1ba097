import { format } from "d3-format";
import type { ScaleTime } from "d3-scale";
import { utcDay, utcMonth } from "d3-time";
import { type Html, html, type Part } from "../html/html.ts";

/** All pictures have this width, so that letters have the same size in each. A picture scales with its column. */
export const WIDTH = 400;

/** A colour of the stylesheet. A hollow shape is an outline, to be distinguishable without colour. */
export interface Paint {
  readonly tone: "first" | "second";
  readonly hollow?: boolean;
}

export const paintClass = ({ tone, hollow = false }: Paint) => `${hollow ? "hollow" : "solid"} ${tone}`;

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

/** A scale of d3 without a range, and the values that have labels. */
export interface Axis {
  readonly scale: { (value: number | Date): number; range(positions: readonly number[]): unknown };
  readonly ticks: readonly { readonly value: number | Date; readonly text: string }[];
}

export interface PlotOptions {
  readonly label: string;
  /** The unit of `y`. */
  readonly unit: string;
  readonly x: Axis;
  readonly y: Axis;
}

const HEIGHT = 190;
/** The edges of the area in which values are drawn. The rest is for labels. */
export const PLOT = { left: 44, right: WIDTH - 14, top: 24, bottom: HEIGHT - 24 };

/** A picture with values at the left and below. `draw` draws with the ranges of both scales set. */
export function plot({ label: description, unit, x, y }: PlotOptions, draw: () => Part, background: Part = null): Html {
  const { left, right, top, bottom } = PLOT;
  x.scale.range([left, right]);
  y.scale.range([bottom, top]);
  const lines = y.ticks.map(({ value, text }) => {
    const at = y.scale(value);
    return [line(left, at, right, at, "grid"), label(left - 6, at + 4, text, "end")];
  });
  const marks = x.ticks.map(({ value, text }) => {
    const at = x.scale(value);
    // A label at an end stays inside of the picture.
    const anchor = at > right - 16 ? "end" : at < left + 16 ? "start" : "middle";
    const start = anchor === "end" ? right + 12 : anchor === "start" ? left - 8 : at;
    return [line(at, bottom, at, bottom + 4, "axis"), label(start, bottom + 18, text, anchor)];
  });
  const axis = [line(left, bottom, right, bottom, "axis"), marks];
  return drawing(description, HEIGHT, [background, label(0, top - 12, unit), lines, axis, draw()]);
}

/** `200`, `1.5k`, `2M`: at most five characters, for the left margin. */
export const formatTick = format("~s");

/** As many steps as have room, but none that is a fraction of a whole thing. */
export const wholeSteps = (largest: number) => Math.max(1, Math.min(4, Math.floor(largest)));

/** The labels of more ticks would overlap. d3 returns about as many ticks as it is asked for. */
const MAX_TIME_TICKS = 6;
/** An axis of this many days or more has ticks at months. */
const MONTHS_FROM_DAYS = 120;

/** Round times in UTC: `14:00`, `20 Nov`, or `Nov` with the year at the first and in January. */
export function timeTicks(scale: ScaleTime<number, number>): Axis["ticks"] {
  const [from = new Date(0), to = from] = scale.domain();
  const isMonthly = utcDay.count(from, to) >= MONTHS_FROM_DAYS;
  const [hour, day, month, year] = ["%H:%M", "%-d %b", "%b", "%b %Y"].map((specifier) =>
    scale.tickFormat(0, specifier),
  );
  const [most = [], ...fewer] = [5, 4, 3, 2].map((count) => scale.ticks(count));
  // Between weeks and months, and between quarters and years, d3 has nothing: every other week or quarter.
  const everyOther = most.filter((_, index) => index % 2 === 0);
  const times = [most, everyOther, ...fewer].find(({ length }) => length <= MAX_TIME_TICKS) ?? [];
  return times.map((value, index) => {
    const isYear = index === 0 || utcMonth.count(new Date(0), value) % 12 === 0;
    const format = utcDay(value) < value ? hour : isMonthly ? (isYear ? year : month) : day;
    return { value, text: format?.(value) ?? "" };
  });
}

export interface LegendItem extends Paint {
  readonly name: string;
}

export function legend(items: readonly LegendItem[]): Html | null {
  if (items.length === 0) return null;
  const entries = items.map(
    (item) =>
      html`<li><svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">${rectangle(1, 1, 9, 9, paintClass(item))}</svg> ${item.name}</li>`,
  );
  return html`<ul class="legend">${entries}</ul>`;
}

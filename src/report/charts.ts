import { cumsum, extent, group, max, pairs } from "d3-array";
import { format } from "d3-format";
import { type ScaleLinear, scaleLinear, scaleUtc } from "d3-scale";
import { area, line as linePath, stack, stackOffsetDiverging } from "d3-shape";
import { utcDay } from "d3-time";
import { type Html, html, type Part } from "./html/html.ts";

/** Pictures as SVG: lines, columns and bars. */

/** All pictures have this width, so that letters have the same size in each. A picture scales with its column. */
const WIDTH = 400;

/** Classes of the stylesheet: a color, and a hollow shape is an outline, to be distinguishable without color. */
type Paint = "solid first" | "hollow first" | "solid second";

/** A tenth of a unit is finer than a pixel of any screen. */
const rounded = (position: number) => Math.round(position * 10) / 10;

function label(x: number, y: number, text: string, anchor: "start" | "middle" | "end" = "start"): Html {
  return html`<text x="${rounded(x)}" y="${rounded(y)}"${anchor === "start" ? null : html` text-anchor="${anchor}"`}>${text}</text>`;
}

function line(x1: number, y1: number, x2: number, y2: number, className: string): Html {
  return html`<path class="${className}" d="M${rounded(x1)} ${rounded(y1)}L${rounded(x2)} ${rounded(y2)}"/>`;
}

/** A rectangle between two corners in any order. */
function rectangle(x1: number, y1: number, x2: number, y2: number, className: string, title: Part = null): Html {
  const [left, top] = [rounded(Math.min(x1, x2)), rounded(Math.min(y1, y2))];
  const [width, height] = [rounded(Math.abs(x2 - x1)), rounded(Math.abs(y2 - y1))];
  return html`<rect class="${className}" x="${left}" y="${top}" width="${width}" height="${height}">${title && html`<title>${title}</title>`}</rect>`;
}

const HEIGHT = 190;
/** The edges of the area in which values are drawn. The rest is for labels. */
const PLOT = { left: 44, right: WIDTH - 14, top: 24, bottom: HEIGHT - 24 };
/** The range of a scale of amounts. */
export const UPWARD = [PLOT.bottom, PLOT.top];

/** A scale of d3 that returns positions in a picture, and the values that have labels. */
export interface Axis {
  readonly scale: (value: number | Date) => number;
  readonly ticks: readonly { readonly value: number | Date; readonly text: string }[];
}

interface PlotOptions {
  /** Describes the picture to readers who do not see it. */
  readonly label: string;
  /** The unit of `y`. */
  readonly unit: string;
  readonly x: Axis;
  readonly y: Axis;
  /** Times about which nothing is known. */
  readonly shades?: readonly Span[];
}

type Span = readonly [from: number | Date, to: number | Date];

/** What is drawn, in a picture with values at the left and below. */
export function plot({ label: description, unit, x, y, shades = [] }: PlotOptions, drawn: Part): Html {
  const { left, right, top, bottom } = PLOT;
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
  const background = shades.map(([from, to]) => {
    const [start, end] = [x.scale(from), x.scale(to)];
    return end - start < 1 ? null : rectangle(start, top, end, bottom, "shade");
  });
  const axis = line(left, bottom, right, bottom, "axis");
  const content = [background, label(0, top - 12, unit), lines, axis, marks, drawn];
  return html`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${description}">${content}</svg>`;
}

const formatLarge = format("~s");

/** About as many amounts: `0.5`, `200`, `1.5k`, `2M`, at most five characters. Those below the line have no sign. */
export function amountAxis(scale: ScaleLinear<number, number>, count: number): Axis {
  const formatTick = (amount: number) => (amount < 1 ? String(amount) : formatLarge(amount));
  return { scale, ticks: scale.ticks(count).map((value) => ({ value, text: formatTick(Math.abs(value)) })) };
}

/** Round times in UTC: `14:00`, `20 Nov`, or `Nov` with the year at the first and in January. */
export function timeAxis(from: Date, to: Date): Axis {
  const scale = scaleUtc([from, to], [PLOT.left, PLOT.right]);
  const isMonthly = utcDay.count(from, to) >= 120;
  // d3 may return more than it is asked for. The labels of more than six would overlap.
  const all = scale.ticks(5);
  const every = Math.ceil(all.length / 6);
  const times = all.filter((_, index) => index % every === 0);
  const ticks = times.map((value, index) => {
    const month = index === 0 || value.getUTCMonth() === 0 ? "%b %Y" : "%b";
    const specifier = utcDay(value) < value ? "%H:%M" : isMonthly ? month : "%-d %b";
    return { value, text: scale.tickFormat(0, specifier)(value) };
  });
  return { scale, ticks };
}

export interface LegendItem {
  readonly name: string;
  readonly paint: Paint;
}

export function legend(items: readonly LegendItem[]): Html {
  const entries = items.map(
    ({ name, paint }) =>
      html`<li><svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">${rectangle(1, 1, 9, 9, paint)}</svg> ${name}</li>`,
  );
  return html`<ul class="legend">${entries}</ul>`;
}

/** `from` and `to`: the time that the picture shows. */
type TimeChart = Pick<PlotOptions, "label" | "unit"> & Readonly<Record<"from" | "to", Date>>;

/** A line over the area below it. */
interface LineChart extends TimeChart {
  /** In order of time. Nothing is known about the time before the first one and after the last one. */
  readonly points: readonly { readonly at: Date; readonly amount: number }[];
  /** Points that are farther apart, in milliseconds, are not connected; nothing is known about the time between them. */
  readonly maxStepMs: number;
  /** The value of the last point, as a text next to it. */
  readonly last: string;
}

const MAX_STEPS = 4;

/** As many steps as have room, but none that is a fraction of a whole thing. */
const wholeSteps = (largest: number) => Math.max(1, Math.min(MAX_STEPS, Math.floor(largest)));

export function lineChart({ label, unit, from, to, points, maxStepMs, last }: LineChart): Html {
  const x = timeAxis(from, to);
  // With room for the label of the last point above the largest amount.
  const highest = Math.max(1.1 * (max(points, ({ amount }) => amount) ?? 0), 1);
  const steps = points.every(({ amount }) => Number.isInteger(amount)) ? wholeSteps(highest) : MAX_STEPS;
  const y = amountAxis(scaleLinear([0, highest], UPWARD).nice(steps), steps);
  const gaps = pairs(points, (a, b): Span => [a.at, b.at]).filter(([start, end]) => +end - +start > maxStepMs);
  const parts = group(points, ({ at }) => gaps.filter(([, end]) => +at >= +end).length);
  const positions = [...parts.values()].map((part) => {
    const all = part.map(({ at, amount }): [number, number] => [rounded(x.scale(at)), rounded(y.scale(amount))]);
    // The last of several points at one position: thousands of days are not more than the positions of a picture.
    return all.filter(([left], index) => Math.floor(left) !== Math.floor(all[index + 1]?.[0] ?? -1));
  });
  const draw = (shape: (part: [number, number][]) => string | null) => positions.map(shape).join("");
  const [start, end] = [points[0], points.at(-1)];
  // A line through a single point has no length, and is a dot as wide as the line.
  const alone = positions.filter(({ length }) => length === 1).map((part) => linePath()(part));
  const drawn = html`<path class="area" d="${draw(area().y0(PLOT.bottom))}"/>
<path class="curve" d="${draw(linePath())}"/>
${alone.length === 0 ? null : html`<path class="curve alone" d="${alone.join("")}"/>`}
<g class="marks">${end === undefined ? null : drawMark(x.scale(end.at), y.scale(end.amount), last)}</g>`;
  return plot({ label, unit, x, y, shades: [[from, start?.at ?? from], ...gaps, [end?.at ?? from, to]] }, drawn);
}

const drawMark = (left: number, top: number, text: string) => [
  html`<circle class="solid first" cx="${rounded(left)}" cy="${rounded(top)}" r="3.5"/>`,
  label(left + (left > PLOT.right - 60 ? -2 : -6), Math.max(PLOT.top - 2, top - 8), text, "end"),
];

/** A counted time: an hour, a day, a week or a month. */
export interface TimeStep {
  readonly at: Date;
  readonly end: Date;
  /** Whether a run saw everything in it. */
  readonly isKnown: boolean;
  /** By the keys of the series. Zeros may be missing. */
  readonly counts: Readonly<Partial<Record<string, number>>>;
}

/**
 * Columns of counts. The first step may begin before the time; that part is shaded, and the column is narrower. The last step may
 * end after it; its column is pale.
 */
interface ColumnChart extends TimeChart {
  /** In their order. Unknown ones are shaded. */
  readonly steps: readonly TimeStep[];
  /** Stacked on each other. */
  readonly series: readonly ColumnSeries[];
  /** Such as `20 Nov 2026: 5 libraries`. */
  readonly describe: (start: Date, count: number) => string;
}

interface ColumnSeries extends LegendItem {
  readonly key: string;
  /** Drawn below the line. */
  readonly below?: boolean;
}

export function columnChart({ label, unit, from, to, steps, series, describe }: ColumnChart): Html {
  const layers = stack<unknown, TimeStep, ColumnSeries>()
    .keys(series)
    .value(({ counts }, { key, below }) => (counts[key] ?? 0) * (below ? -1 : 1))
    .offset(stackOffsetDiverging)(steps);
  const [lowest = 0, highest = 0] = extent(layers.flat(2));
  const start = steps[0]?.at ?? from;
  const x = timeAxis(start, steps.at(-1)?.end ?? to);
  const count = wholeSteps(highest - lowest);
  const y = amountAxis(scaleLinear([lowest, highest > lowest ? highest : 1], UPWARD).nice(count), count);
  const gap = Math.min(3, (PLOT.right - PLOT.left) / steps.length / 5);
  const drawStep = ({ at, end }: TimeStep, index: number) => {
    const left = x.scale(at < from ? from : at);
    // A step that has only begun is still visible.
    const right = Math.max(left + gap + 2, x.scale(end));
    return layers.map((layer) => {
      const [base = 0, top = 0] = layer[index] ?? [];
      if (base === top) return null;
      const title = `${describe(at, top - base)}, ${layer.key.name}`;
      const className = `${layer.key.paint}${end > to ? " so-far" : ""}`;
      return rectangle(left + gap / 2, y.scale(base), right - gap / 2, y.scale(top), className, title);
    });
  };
  const unknown = steps.filter(({ isKnown }) => !isKnown).map(({ at, end }): Span => [at, end]);
  const zero = line(PLOT.left, y.scale(0), PLOT.right, y.scale(0), "axis");
  return plot({ label, unit, shades: [[start, from], ...unknown], x, y }, [steps.map(drawStep), zero]);
}

export interface BarPart {
  readonly paint: Paint;
  readonly value: number;
}

/** A bar of parts, one after the other, as long as their share of `largest`. It is for a cell of a table that has the numbers too. */
export function bar(parts: readonly BarPart[], largest: number): Html {
  const percent = (value: number) => rounded((100 * value) / largest);
  const ends = cumsum(parts, ({ value }) => value);
  const drawn = parts.map(({ value, paint }, index) => {
    if (value === 0) return null;
    const start = percent((ends[index] ?? 0) - value);
    return html`<rect class="${paint}" x="${start}%" y="1" width="${percent(value)}%" height="13"/>`;
  });
  return html`<svg class="bar" aria-hidden="true">${drawn}</svg>`;
}

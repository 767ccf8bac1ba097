import { area, curveLinear, curveStepAfter, line as linePath } from "d3-shape";
import { type Html, html } from "../html/html.ts";
import { label, line, PLOT, type PlotOptions, plot, rounded } from "./svg.ts";

/** A line over the area below it. */
interface LineChart extends PlotOptions {
  /** In order of `x`. */
  readonly points: readonly Point[];
  /** If true, a value holds until the next point. */
  readonly isStepped?: boolean;
  /** Points with their values. */
  readonly marks: readonly (Point & { readonly text: string })[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

export function lineChart({ points, isStepped = false, marks, ...options }: LineChart): Html {
  const x = options.x.scale;
  const y = options.y.scale;
  const curve = isStepped ? curveStepAfter : curveLinear;
  return plot(options, () => {
    const positions = thin(points.map((point) => [rounded(x(point.x)), rounded(y(point.y))]));
    return html`<path class="area" d="${area().curve(curve).y0(PLOT.bottom)(positions) ?? ""}"/>
<path class="curve" d="${linePath().curve(curve)(positions) ?? ""}"/>
<g class="marks">${marks.map((mark) => drawMark(x(mark.x), y(mark.y), mark.text))}</g>`;
  });
}

const drawMark = (left: number, top: number, text: string) => [
  // At the edge of the plot it would look like a frame.
  left < PLOT.right - 1 ? line(left, top, left, PLOT.bottom, "leader") : null,
  html`<circle class="solid first" cx="${rounded(left)}" cy="${rounded(top)}" r="3.5"/>`,
  label(left + (left > PLOT.right - 60 ? -2 : -6), Math.max(PLOT.top - 2, top - 8), text, "end"),
];

/** Of several points at one position, the last. Thousands of days are not more than the positions of a picture. */
const thin = (points: readonly [number, number][]) =>
  points.filter(([x], index) => Math.floor(x) !== Math.floor(points[index + 1]?.[0] ?? -1));

import { area, curveLinear, curveStepAfter, line as linePath } from "d3-shape";
import { type Html, html } from "../html/html.ts";
import { drawing, horizontalAxis, label, line, plotOf, rounded, verticalAxis } from "./svg.ts";

/** A line over the area below it. */
export interface LineChart {
  readonly label: string;
  readonly unit: string;
  /** In order of `x`. */
  readonly points: readonly Point[];
  /** If true, a value holds until the next point. */
  readonly isStepped?: boolean;
  readonly xAxis: Axis;
  readonly yAxis: Axis;
  /** Points with their values. */
  readonly marks: readonly (Point & { readonly text: string })[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Positions and ticks of one direction, within these two positions. */
export type Axis = (
  from: number,
  to: number,
) => {
  readonly position: (value: number) => number;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
};

const HEIGHT = 190;

export function lineChart(chart: LineChart): Html {
  const plot = plotOf(HEIGHT);
  const x = chart.xAxis(plot.left, plot.right);
  const y = chart.yAxis(plot.bottom, plot.top);
  const points = thin(chart.points.map((point) => [rounded(x.position(point.x)), rounded(y.position(point.y))]));
  const curve = chart.isStepped ? curveStepAfter : curveLinear;
  const marks = chart.marks.map((mark) => {
    const [left, top] = [x.position(mark.x), y.position(mark.y)];
    const isAtRight = left > plot.right - 60;
    return [
      // At the edge of the plot it would look like a frame.
      left < plot.right - 1 ? line(left, top, left, plot.bottom, "leader") : null,
      html`<circle class="solid first" cx="${rounded(left)}" cy="${rounded(top)}" r="3.5"/>`,
      label(left + (isAtRight ? -2 : -6), Math.max(plot.top - 2, top - 8), mark.text, "end"),
    ];
  });
  return drawing(chart.label, HEIGHT, [
    verticalAxis(y.ticks, chart.unit, plot),
    html`<path class="area" d="${area().curve(curve).y0(plot.bottom)(points) ?? ""}"/>`,
    html`<path class="curve" d="${linePath().curve(curve)(points) ?? ""}"/>`,
    horizontalAxis(x.ticks, plot),
    html`<g class="marks">${marks}</g>`,
  ]);
}

/** Of several points at one position, the last. Thousands of days are not more than the positions of a picture. */
const thin = (points: readonly [number, number][]) =>
  points.filter(([x], index) => Math.floor(x) !== Math.floor(points[index + 1]?.[0] ?? -1));

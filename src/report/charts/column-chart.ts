import { max, sum } from "d3-array";
import { scaleLinear, scaleUtc } from "d3-scale";
import type { TimeInterval } from "d3-time";
import type { Html } from "../html/html.ts";
import {
  drawing,
  formatTick,
  horizontalAxis,
  type LegendItem,
  line,
  paintClass,
  plotOf,
  rectangle,
  verticalAxis,
  wholeSteps,
} from "./svg.ts";
import { timeTicks } from "./time-axis.ts";

/** Counts by hour, day, week or month. */
export interface ColumnChart {
  readonly label: string;
  readonly unit: string;
  /** The counted time. The first and the last step may reach beyond it; that part is shaded, and their columns are narrower. */
  readonly from: Date;
  readonly to: Date;
  readonly interval: TimeInterval;
  /** Stacked on each other. */
  readonly series: readonly ColumnSeries[];
  /** Such as `20 Nov 2026: 5 libraries`. */
  readonly describe: (start: Date, count: number) => string;
}

interface ColumnSeries extends LegendItem {
  /** Drawn below the line. */
  readonly below?: boolean;
  /** By the start of the step in milliseconds; a missing one is 0. */
  readonly counts: ReadonlyMap<number, number>;
}

const HEIGHT = 190;
/** A step that has only begun is still visible. */
const MIN_WIDTH = 2;

/** The starts of all steps from `from` to `to`. */
export const stepsOf = (interval: TimeInterval, from: Date, to: Date): Date[] =>
  interval.range(interval.floor(from), new Date(to.getTime() + 1));

export function columnChart(chart: ColumnChart): Html {
  const { label, unit, from, to, interval, series, describe } = chart;
  const plot = plotOf(HEIGHT);
  const steps = stepsOf(interval, from, to);
  const x = scaleUtc([interval.floor(from), interval.offset(interval.floor(to), 1)], [plot.left, plot.right]);
  const y = heightScale(chart, steps, [plot.bottom, plot.top]);
  const gap = Math.min(3, (plot.right - plot.left) / steps.length / 5);
  const columns = steps.map((start) => {
    const left = Math.max(x(start), x(from));
    const right = Math.max(left + gap + MIN_WIDTH, Math.min(x(interval.offset(start, 1)), x(to)));
    const ends = { above: 0, below: 0 };
    return series.map(({ name, below = false, counts, ...paint }) => {
      const count = counts.get(start.getTime()) ?? 0;
      if (count === 0) return null;
      const side = below ? "below" : "above";
      const base = ends[side];
      ends[side] += below ? -count : count;
      const title = `${describe(start, count)}, ${name}`;
      return rectangle(left + gap / 2, y(base), right - gap / 2, y(ends[side]), paintClass(paint), title);
    });
  });
  const [firstShade, lastShade] = [x(from) - plot.left, plot.right - x(to)];
  const ticks = y.ticks(wholeSteps(Math.max(...y.domain().map(Math.abs))));
  return drawing(label, HEIGHT, [
    firstShade < 1 ? null : rectangle(plot.left, plot.top, x(from), plot.bottom, "shade"),
    lastShade < 1 ? null : rectangle(x(to), plot.top, plot.right, plot.bottom, "shade"),
    verticalAxis(
      ticks.map((count) => ({ at: y(count), text: formatTick(Math.abs(count)) })),
      unit,
      plot,
    ),
    columns,
    horizontalAxis(timeTicks(x), plot),
    line(plot.left, y(0), plot.right, y(0), "axis"),
  ]);
}

function heightScale({ series }: ColumnChart, steps: readonly Date[], range: readonly [number, number]) {
  const highest = (isBelow: boolean) =>
    max(steps, (start) =>
      sum(
        series.filter(({ below = false }) => below === isBelow),
        ({ counts }) => counts.get(start.getTime()) ?? 0,
      ),
    ) ?? 0;
  const [above, below] = [highest(false), highest(true)];
  const isEmpty = above + below === 0;
  return scaleLinear([-below, isEmpty ? 1 : above], range).nice(wholeSteps(above + below));
}

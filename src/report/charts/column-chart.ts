import { max, sum } from "d3-array";
import { scaleLinear, scaleUtc } from "d3-scale";
import type { TimeInterval } from "d3-time";
import type { Html } from "../html/html.ts";
import {
  formatTick,
  type LegendItem,
  line,
  PLOT,
  type PlotOptions,
  paintClass,
  plot,
  rectangle,
  timeTicks,
  wholeSteps,
} from "./svg.ts";

/** Counts by hour, day, week or month. */
interface ColumnChart extends Pick<PlotOptions, "label" | "unit"> {
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

/** A step that has only begun is still visible. */
const MIN_WIDTH = 2;

/** The starts of all steps from `from` to `to`. */
export const stepsOf = (interval: TimeInterval, from: Date, to: Date): Date[] =>
  interval.range(interval.floor(from), new Date(to.getTime() + 1));

export function columnChart({ label, unit, from, to, interval, series, describe }: ColumnChart): Html {
  const steps = stepsOf(interval, from, to);
  const highest = (isBelow: boolean) => {
    const stacked = series.filter(({ below = false }) => below === isBelow);
    return max(steps, (start) => sum(stacked, ({ counts }) => counts.get(start.getTime()) ?? 0)) ?? 0;
  };
  const [above, below] = [highest(false), highest(true)];
  const x = scaleUtc([interval.floor(from), interval.offset(interval.floor(to), 1)], [PLOT.left, PLOT.right]);
  const y = scaleLinear()
    .domain([-below, above + below === 0 ? 1 : above])
    .nice(wholeSteps(above + below));
  const ticks = y.ticks(wholeSteps(Math.max(...y.domain().map(Math.abs))));
  const gap = Math.min(3, (PLOT.right - PLOT.left) / steps.length / 5);
  const drawStep = (start: Date) => {
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
  };
  const shade = (left: number, right: number) =>
    right - left < 1 ? null : rectangle(left, PLOT.top, right, PLOT.bottom, "shade");
  return plot(
    {
      label,
      unit,
      x: { scale: x, ticks: timeTicks(x) },
      y: { scale: y, ticks: ticks.map((value) => ({ value, text: formatTick(Math.abs(value)) })) },
    },
    () => [steps.map(drawStep), line(PLOT.left, y(0), PLOT.right, y(0), "axis")],
    [shade(PLOT.left, x(from)), shade(x(to), PLOT.right)],
  );
}

import { extent, range } from "d3-array";
import { scaleLog, scaleUtc } from "d3-scale";
import { formatElapsed } from "../../format.ts";
import { MINUTE_MS } from "../../units.ts";
import { type Html, html } from "../html/html.ts";
import { type StatusBadge, shapeAt } from "../html/status-badge.ts";
import { drawing, horizontalAxis, plotOf, verticalAxis } from "./svg.ts";
import { timeTicks } from "./time-axis.ts";

/** Events by their time and their duration. Shape and colour show the outcome. */
export interface DotChart {
  readonly label: string;
  readonly dots: readonly Dot[];
}

interface Dot {
  readonly at: Date;
  readonly durationMs: number;
  readonly variant: StatusBadge["variant"];
  readonly title: string;
}

const HEIGHT = 190;
const SIZE = 9;

/** The axis of durations is logarithmic, because a full run takes a thousand times as long as one with nothing to read. */
export function dotChart({ label, dots }: DotChart): Html {
  const plot = plotOf(HEIGHT);
  const secondsOf = ({ durationMs }: Dot) => Math.max(0.01, durationMs / 1000);
  const [shortest = 1, longest = 1] = extent(dots, secondsOf);
  const [lowest, highest] = [Math.floor(Math.log10(shortest)), Math.floor(Math.log10(longest)) + 1];
  const decades = range(lowest, highest + 1).map((power) => 10 ** power);
  const [first = new Date(0), last = first] = extent(dots, ({ at }) => at);
  // The same distance from both edges, also if all runs began at one time.
  const marginMs = Math.max(5 * MINUTE_MS, (last.getTime() - first.getTime()) / 30);
  const x = scaleUtc(
    [new Date(first.getTime() - marginMs), new Date(last.getTime() + marginMs)],
    [plot.left, plot.right],
  );
  const y = scaleLog([10 ** lowest, 10 ** highest], [plot.bottom, plot.top]);
  const shapes = dots.map((dot) => {
    const shape = shapeAt(dot.variant, x(dot.at) - SIZE / 2, y(secondsOf(dot)) - SIZE / 2, SIZE);
    return html`<g><title>${dot.title}, ${formatElapsed(dot.durationMs)}</title>${shape}</g>`;
  });
  return drawing(label, HEIGHT, [
    verticalAxis(
      decades.map((seconds) => ({ at: y(seconds), text: String(seconds) })),
      "seconds",
      plot,
    ),
    horizontalAxis(timeTicks(x), plot),
    shapes,
  ]);
}

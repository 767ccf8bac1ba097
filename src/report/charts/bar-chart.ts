import { max, sum } from "d3-array";
import { scaleLinear } from "d3-scale";
import { truncate, widthOf } from "../../output/text-width.ts";
import { printable } from "../../printable.ts";
import type { Html } from "../html/html.ts";
import { drawing, label, type Paint, paintClass, rectangle, WIDTH } from "./svg.ts";

export interface Bar {
  readonly name: string;
  /** The end of the name, which is kept if a long name is cut: a version. */
  readonly tail?: string;
  /** One after the other. */
  readonly parts: readonly (Paint & { readonly value: number })[];
  readonly end: string;
}

const STEP = 24;
const NAME_ROOM = 160;
/** The width of a letter of a wide font, and of a digit. */
const LETTER_WIDTH = 7.9;
const DIGIT_WIDTH = 6.8;

/** Horizontal bars for named things, each with its value at its end. There is no axis, because each value is printed. */
export function barChart(description: string, bars: readonly Bar[]): Html {
  const endRoom = DIGIT_WIDTH * (max(bars, ({ end }) => end.length) ?? 0) + 8;
  const largest = max(bars, ({ parts }) => sum(parts, ({ value }) => value)) ?? 0;
  const x = scaleLinear([0, Math.max(largest, Number.MIN_VALUE)], [NAME_ROOM, WIDTH - endRoom]);
  const rows = bars.map((bar, index) => {
    const top = index * STEP + 4;
    let before = 0;
    const parts = bar.parts.map(({ value, ...paint }) => {
      const start = before;
      before += value;
      return value === 0 ? null : rectangle(x(start), top, x(before), top + STEP - 9, paintClass(paint));
    });
    const baseline = top + 12;
    return [label(0, baseline, shortName(bar)), parts, label(x(before) + 6, baseline, bar.end)];
  });
  return drawing(description, bars.length * STEP + 4, rows);
}

/** The name is isolated, so that its writing direction does not affect the tail. */
function shortName({ name, tail = "" }: Bar): string {
  const letters = Math.floor((NAME_ROOM - 8) / LETTER_WIDTH);
  const end = truncate(printable(tail), Math.floor(letters / 2));
  return `\u2068${truncate(printable(name), letters - widthOf(end))}\u2069${end}`;
}

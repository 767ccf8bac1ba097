import type { Tone } from "./palette.ts";

/** The data of a bar chart: one quantity per item. */
export interface BarChart {
  /** A description for readers who do not see the chart. */
  readonly label: string;
  /** `columns` are vertical, for times; `bars` are horizontal, for names. */
  readonly kind: "columns" | "bars";
  /** What each bar stands for: "owner". */
  readonly things: string;
  readonly names: readonly string[];
  /** Suffixes of the names, which are kept if a long name is cut: versions. */
  readonly tails?: readonly string[];
  /** The unit of the values: "libraries", "MiB". */
  readonly unit: string;
  readonly formatValue: (value: number) => string;
  /** Stacked on each other. */
  readonly series: readonly Series[];
  /** Labels at the ends of the bars. */
  readonly ends?: readonly string[];
}

export interface Series {
  readonly name: string;
  readonly tone: Tone;
  /** Drawn as an outline, to be distinguishable without colour. */
  readonly hollow?: boolean;
  /** Negative values are drawn in the opposite direction. */
  readonly values: readonly number[];
}

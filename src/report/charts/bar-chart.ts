import type { Tone } from "./palette.ts";

/** One quantity for each of some things, as bars; what a chart says, before anything is drawn. */
export interface BarChart {
  /** What it shows, for who does not see it. */
  readonly label: string;
  /** `columns` stand beside each other, as for times; `bars` lie under each other, as for names. */
  readonly kind: "columns" | "bars";
  /** What the bars are: "owner". */
  readonly things: string;
  readonly names: readonly string[];
  /** The ends of the names, which stay when a long name is cut: versions. */
  readonly tails?: readonly string[];
  /** What their length is: "libraries", "MiB". */
  readonly unit: string;
  readonly formatValue: (value: number) => string;
  /** Stacked. */
  readonly series: readonly Series[];
  /** Written at the end of each whole bar. */
  readonly ends?: readonly string[];
}

export interface Series {
  readonly name: string;
  readonly tone: Tone;
  /** Filled, or an outline alone, so that who cannot tell the colours apart tells these apart. */
  readonly hollow?: boolean;
  /** Negative ones go the other way. */
  readonly values: readonly number[];
}

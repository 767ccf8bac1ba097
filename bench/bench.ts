import type { Database } from "./tools/database.ts";

/** The target of a figure. */
export type Target = { readonly atMost: number } | { readonly atLeast: number };

/** One thing measured: a value a round. */
export interface Figure {
  /** Such as `time ÷ COPY of the same rows`. */
  readonly name: string;
  readonly values: readonly number[];
  readonly target: Target;
  /** For values that are no ratio: `MB`. */
  readonly unit?: string;
  /** The absolute amounts of the ratio, for display. */
  readonly detail: string;
}

/** The arguments of a bench. */
export interface World {
  /** A fraction of a second a bench: proves that it runs, and measures nothing. */
  readonly tiny: boolean;
  readonly rounds: number;
  readonly database: Database;
}

export interface Bench {
  /** The work, with its numbers. */
  readonly work: string;
  readonly run: (world: World) => Promise<readonly Figure[]>;
}

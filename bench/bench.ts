import type { Database } from "./tools/database.ts";

/** The value that a figure must reach. */
export type Target = { readonly atMost: number } | { readonly atLeast: number };

/** One measured quantity, with one value per round. */
export interface Figure {
  /** Such as `time ÷ COPY of the same rows`. */
  readonly name: string;
  readonly values: readonly number[];
  readonly target: Target;
  /** Of values that are not ratios, such as `MB`. */
  readonly unit?: string;
  /** The absolute amounts, for display. */
  readonly detail: string;
}

/** The arguments of a bench. */
export interface World {
  /** Takes a fraction of a second per bench. Proves that the bench runs; its figures mean nothing. */
  readonly tiny: boolean;
  readonly rounds: number;
  readonly database: Database;
}

export interface Bench {
  /** The work, with its numbers. */
  readonly work: string;
  readonly run: (world: World) => Promise<readonly Figure[]>;
}

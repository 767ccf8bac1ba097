import type { ColumnDifference } from "../db/read/compare-rows.ts";
import type { LibraryFailure, LibraryKey, ScenarioId } from "../model.ts";

/**
 * How a row and the service differ. `missing`: the service has the item, the database does not. `removed`: the service has
 * it, the database has marked it as removed. `unlisted`: only the database has it. `content`: both have it and differ.
 */
export type DifferenceKind = "missing" | "removed" | "unlisted" | "content";

export interface ScenarioDifference {
  readonly id: ScenarioId;
  readonly kind: DifferenceKind;
  readonly columns: readonly ColumnDifference[];
}

export interface ScenarioDifferences {
  readonly counts: Readonly<Record<DifferenceKind, number>>;
  /** At most `MAX_EXAMPLES` of them. */
  readonly examples: readonly ScenarioDifference[];
}

export interface LibraryDifference {
  readonly key: LibraryKey;
  readonly kind: DifferenceKind;
  /** Differences of the library's own row. */
  readonly columns: readonly ColumnDifference[];
  readonly scenarios: ScenarioDifferences;
  /** For an unlisted library whose removal a guard holds: since when. Otherwise null. */
  readonly removalHeldAt: Date | null;
}

/** Items that could not be compared because they are rejects. */
export interface RejectedItems {
  /** Null for an entry of the listing without a readable key. */
  readonly key: LibraryKey | null;
  readonly count: number;
  /** The reason of the first reject. */
  readonly reason: string;
}

/** The result of one comparison. */
export interface Findings {
  /** Listed libraries in scope. */
  readonly listed: number;
  /** Compared scenarios. */
  readonly scenarios: number;
  readonly differences: readonly LibraryDifference[];
  readonly unread: readonly LibraryFailure[];
  readonly rejected: readonly RejectedItems[];
  /** Why the listing is incomplete, so that libraries that it lacks were not compared; null if it is complete. */
  readonly incomplete: string | null;
}

export interface VerifyReport extends Findings {
  readonly agrees: boolean;
  readonly durationMs: number;
  /** Libraries that differed in the first comparison and agreed in the second. */
  readonly passing: number;
}

/** Maximum number of scenarios per library whose differences are reported in full. */
export const MAX_EXAMPLES = 20;

export const NO_SCENARIOS: ScenarioDifferences = {
  counts: { missing: 0, removed: 0, unlisted: 0, content: 0 },
  examples: [],
};

/** Counts the differences by kind and keeps the first ones as examples. */
export function toScenarioDifferences(found: readonly ScenarioDifference[]): ScenarioDifferences {
  const counts = { ...NO_SCENARIOS.counts };
  for (const { kind } of found) counts[kind] += 1;
  return { counts, examples: found.slice(0, MAX_EXAMPLES) };
}

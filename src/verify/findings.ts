import type { ColumnDifference } from "../db/read/read-library-rows.ts";
import type { LibraryFailure, LibraryKey, ScenarioId } from "../model.ts";

/**
 * How a row and the service differ: the service has it and the database does not (`missing`) or says that it is gone
 * (`removed`), the database has it and the service does not list it (`unlisted`), or both have it and do not say the same.
 */
export type DifferenceKind = "missing" | "removed" | "unlisted" | "content";

export interface ScenarioDifference {
  readonly id: ScenarioId;
  readonly kind: DifferenceKind;
  readonly columns: readonly ColumnDifference[];
}

export interface ScenarioDifferences {
  readonly counts: Readonly<Record<DifferenceKind, number>>;
  /** The first of them; a list may differ in a million places. */
  readonly examples: readonly ScenarioDifference[];
}

export interface LibraryDifference {
  readonly key: LibraryKey;
  readonly kind: DifferenceKind;
  /** Differences of the library's own row. */
  readonly columns: readonly ColumnDifference[];
  readonly scenarios: ScenarioDifferences;
}

/** A library of which the service sent things that cannot be read, and so cannot be compared. */
export interface RejectedItems {
  /** Null where not even the key could be read. */
  readonly key: LibraryKey | null;
  readonly count: number;
  /** Why the first of them cannot be read. */
  readonly reason: string;
}

/** The result of one comparison. */
export interface Findings {
  /** Libraries of the listing that were looked at. */
  readonly listed: number;
  /** Scenarios that were compared. */
  readonly scenarios: number;
  readonly differences: readonly LibraryDifference[];
  readonly unread: readonly LibraryFailure[];
  readonly rejected: readonly RejectedItems[];
  /** Why nothing may be concluded from what the listing lacks; null when it is whole. */
  readonly incomplete: string | null;
}

export interface VerifyReport extends Findings {
  readonly agrees: boolean;
  readonly durationMs: number;
  /** Libraries that differed at the first look and no longer at the second. */
  readonly passing: number;
}

/** Maximum number of scenarios per library whose differences are reported in full. */
export const EXAMPLES = 20;

export const NO_SCENARIOS: ScenarioDifferences = {
  counts: { missing: 0, removed: 0, unlisted: 0, content: 0 },
  examples: [],
};

export function toScenarioDifferences(found: readonly ScenarioDifference[]): ScenarioDifferences {
  const counts = { ...NO_SCENARIOS.counts };
  for (const { kind } of found) counts[kind] += 1;
  return { counts, examples: found.slice(0, EXAMPLES) };
}

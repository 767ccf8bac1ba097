import type { ColumnDifference } from "../db/read/compare-rows.ts";
import type { LibraryFailure, LibraryKey, ScenarioId } from "../model.ts";

/**
 * How a row and the service differ. `missing`: the service has the item, the database does not. `removed`: the service has
 * it, the database has marked it as removed. `unlisted`: only the database has it. `content`: both have it and differ.
 */
export type DifferenceKind = "missing" | "removed" | "unlisted" | "content";

export interface LibraryDifference {
  readonly key: LibraryKey;
  readonly kind: DifferenceKind;
  /**
   * The command that resolves it. `sync`: the next sync, which reads the library or marks it as removed in any case. `backfill`: only a
   * backfill that compares every row. `allow-removals`: its removal is held.
   */
  readonly remedy: "sync" | "backfill" | "allow-removals";
  /** Differences of the library's own row. */
  readonly columns: readonly ColumnDifference[];
  /** How many of its scenarios differ. */
  readonly counts: Readonly<Record<DifferenceKind, number>>;
  /** The first MAX_EXAMPLES scenarios of each kind. */
  readonly examples: readonly ScenarioDifference[];
  /** For an unlisted library whose removal a guard holds: since when. Otherwise null. */
  readonly removalHeldAt: Date | null;
}

export interface ScenarioDifference {
  readonly id: ScenarioId;
  readonly kind: DifferenceKind;
  readonly columns: readonly ColumnDifference[];
}

/** The result of comparing the content of libraries. */
export interface ContentFindings {
  /** Compared scenarios. */
  readonly scenarios: number;
  readonly differences: readonly LibraryDifference[];
  readonly unread: readonly LibraryFailure[];
  /** Items that could not be compared because they are rejects, with the reason of the first; null: an entry without a readable key. */
  readonly rejected: readonly { readonly key: LibraryKey | null; readonly count: number; readonly reason: string }[];
}

/** The result of one comparison. */
export interface Findings extends ContentFindings {
  /** Listed libraries in scope. */
  readonly listed: number;
  /** Why the listing is incomplete, so that libraries that it lacks were not compared; null if it is complete. */
  readonly incomplete: string | null;
}

export interface VerifyReport extends Findings {
  readonly agrees: boolean;
  readonly durationMs: number;
  /** Libraries that differed in the first comparison and agreed in the second. */
  readonly passing: number;
}

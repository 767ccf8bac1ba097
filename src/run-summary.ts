import type { LibraryFailure, LibraryKey, Reason } from "./model.ts";
import type { Slice } from "./slice.ts";

export type RunKind = "sync" | "backfill";

/** How a run can end. */
export const RUN_STATUSES = [
  "ok",
  "partial",
  "held",
  "source_unavailable",
  "source_untrusted",
  "unauthorized",
  "database_failed",
  "interrupted",
  "lost_lease",
  "failed",
] as const;

export type EndStatus = (typeof RUN_STATUSES)[number];
export type RunStatus = EndStatus | "running" | "abandoned";

/** Which libraries a run concerns; two empty lists mean all of them, or all of the slice. */
export interface Selection {
  readonly libraries: readonly LibraryKey[];
  readonly owners: readonly string[];
  /** A run of a slice marks no removals and keeps only its own rejects of the listing: the next run of everything does the rest. */
  readonly slice?: Slice;
}

/** What a run is asked to do. */
export interface RunRequest {
  readonly kind: RunKind;
  readonly trigger: "cli" | "schedule";
  readonly selection: Selection;
  readonly allowRemovals: boolean;
  /** Begin a backfill again instead of continuing an interrupted one, and compare every row, in later runs too. */
  readonly restart: boolean;
}

/** The counts of a run, by the columns of `sync_runs`. */
export const COUNT_COLUMNS = {
  librariesListed: "libraries_listed",
  librariesRead: "libraries_read",
  librariesSkipped: "libraries_skipped",
  librariesChanged: "libraries_changed",
  librariesFailed: "libraries_failed",
  librariesRemoved: "libraries_removed",
  scenariosInserted: "scenarios_inserted",
  scenariosUpdated: "scenarios_updated",
  scenariosRemoved: "scenarios_removed",
  scenariosUnchanged: "scenarios_unchanged",
  rejects: "rejects",
  requests: "requests",
  retries: "retries",
  bytes: "bytes",
  silentChanges: "silent_changes",
} as const;

export type RunCounts = Record<keyof typeof COUNT_COLUMNS, number>;

/** A remark of a run for people, in addition to its counts. `code` is stable. */
export interface Warning {
  readonly code: string;
  /** The library that it concerns, where it concerns one. */
  readonly key?: LibraryKey;
  readonly message: string;
}

/** The result of a run, as the summary, `--json` and the log show it. */
export interface RunSummary {
  readonly id: number;
  readonly kind: RunKind;
  readonly status: EndStatus;
  readonly durationMs: number;
  readonly counts: Readonly<RunCounts>;
  readonly isGood: boolean;
  /** How many libraries were read for each reason. */
  readonly reasons: Readonly<Partial<Record<Reason, number>>>;
  /** How many libraries were skipped for each reason. */
  readonly skips: Readonly<Partial<Record<Reason, number>>>;
  readonly failures: readonly LibraryFailure[];
  /** Rejects by code. */
  readonly rejects: Readonly<Record<string, number>>;
  readonly warnings: readonly Warning[];
  /** Why the run ended as it did and what to do; null if it is `ok`. */
  readonly error: string | null;
}

/** The end of a run of everything, or of an attempt to begin one. */
export interface RunEnd extends Pick<RunSummary, "isGood" | "error"> {
  /** Null if it did not begin. */
  readonly id: number | null;
  readonly status: RunStatus | "configuration";
}

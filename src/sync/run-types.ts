import type { Config } from "../config.ts";
import type { DatabaseClock } from "../db/clock.ts";
import type { Pool } from "../db/connect.ts";
import type { Lease } from "../db/lease.ts";
import type { LibraryKey, Reject } from "../model.ts";
import type { ValueParsers } from "../parse-values.ts";
import type { RunKind, RunRequest, RunSummary } from "../run-summary.ts";
import type { Service, ServiceEvent } from "../service/client.ts";
import type { RunTotals } from "./run-totals.ts";

export type RunSettings = Pick<Config, "concurrency" | "fullEveryMs" | "maxRemoved" | "serviceTimezone">;

export interface RunTools {
  readonly pool: Pool;
  readonly clock: DatabaseClock;
  /** Opened for this run, whose requests it counts. */
  readonly service: Service;
  readonly settings: RunSettings;
  readonly version: string;
  /** Takes the secrets out of a message before it is stored or shown. */
  readonly mask: (message: string) => string;
  readonly onEvent: (event: RunEvent) => void;
}

/** One run that holds the lease; every step of it gets this. Times are the database's, in milliseconds. */
export interface Run extends RunTools {
  readonly id: number;
  readonly request: RunRequest;
  /** A backfill reads what was last read before this moment; null for a sync. */
  readonly backfillSince: number | null;
  /** Content that was read before this moment is compared row by row, whatever its hash; null if no run ever had `--restart`. */
  readonly hashesTrustedSince: number | null;
  readonly lease: Lease;
  readonly parsers: ValueParsers;
  readonly totals: RunTotals;
}

/** Progress of a run; the log and the terminal show it. The run's summary describes its end. */
export type RunEvent =
  | { readonly kind: "started"; readonly id: number; readonly run: RunKind }
  | { readonly kind: "planned"; readonly listed: number; readonly toRead: number; readonly skipped: number }
  | { readonly kind: "stored"; readonly key: LibraryKey }
  /** Items of this library were rejected; `key` is null for items of the listing that name no library. */
  | { readonly kind: "rejected"; readonly key: LibraryKey | null; readonly rejects: readonly Reject[] }
  | { readonly kind: "failed"; readonly key: LibraryKey; readonly code: string; readonly message: string };

/** What happens in a run, or in other work with the service. */
export type ObservedEvent = RunEvent | ServiceEvent | { readonly kind: "finished"; readonly summary: RunSummary };

/** A log, a progress line, the metrics or the state of the worker. Only `finished` is awaited. */
export type Observer = (event: ObservedEvent) => void | Promise<void>;

export interface RunResult {
  readonly summary: RunSummary;
  /** Why the run ended early; null if it completed (`ok`, `partial`, `held`). */
  readonly error: Error | null;
}

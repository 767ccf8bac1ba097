import type { Pool } from "../db/connect.ts";

/** The state of the worker that is in no table: written by the run loop, read by the HTTP routes. */
export interface WorkerState {
  phase: "starting" | "working" | "stopping";
  /** Null until the database has answered once. */
  pool: Pool | null;
  current: CurrentRun | null;
  trouble: Trouble | null;
  /** The service asked for no requests until then; null if it did not. By the local clock, like the schedule. */
  pausedUntil: Date | null;
  /** How many due ticks started no run, by reason. */
  readonly missedTicks: Record<MissReason, number>;
}

/** The run in progress. */
export interface CurrentRun {
  /** Null until the run has its row in `sync_runs`. */
  readonly id: number | null;
  readonly startedAt: Date;
  /** When a scenario list was last received or a library stored, as `performance.now()`; null before that. */
  readonly progressAt: number | null;
  /** The number of libraries to read; null until the run is planned. */
  readonly toRead: number | null;
  /** The number of libraries that were stored or have failed. */
  readonly done: number;
}

/** Why the last run ended neither as ok nor as partial, or did not start. */
interface Trouble {
  /** A run status, `busy` or `configuration`. */
  readonly code: string;
  readonly message: string;
  /** Null if the run never had a row in `sync_runs`. */
  readonly runId: number | null;
}

/**
 * Why no run started at a due tick: one was in progress, the database was unreachable, the machine slept or the event loop
 * was blocked, or the service had asked for a pause.
 */
export const MISS_REASONS = ["running", "database", "suspended", "retry_after"] as const;
export type MissReason = (typeof MISS_REASONS)[number];

export function createWorkerState(): WorkerState {
  const missedTicks = { running: 0, database: 0, suspended: 0, retry_after: 0 };
  return { phase: "starting", pool: null, current: null, trouble: null, pausedUntil: null, missedTicks };
}

/** Until when the service wants no requests; null if it accepts them now. */
export const pauseOf = ({ pausedUntil }: Readonly<WorkerState>) =>
  pausedUntil !== null && Date.now() < pausedUntil.getTime() ? pausedUntil : null;

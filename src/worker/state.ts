import type { Pool } from "../db/connect.ts";

/** The run that is at work in this process. Moments are of `performance.now()`. */
export interface CurrentRun {
  /** Null until it has its row. */
  readonly id: number | null;
  readonly startedAt: Date;
  /** When the service last answered well, or a library was stored; null before the first time. */
  readonly progressAt: number | null;
  /** Null until the plan is made. */
  readonly toRead: number | null;
  readonly done: number;
}

/** How this worker's last run ended, where somebody should know of it. */
export interface Trouble {
  /** A run's status, `busy` or `configuration`. */
  readonly code: string;
  readonly message: string;
  /** Its row's id; null when it never had one. */
  readonly runId: number | null;
}

/** What the worker is doing: written by the loop, read by the routes. */
export interface WorkerState {
  phase: "starting" | "working" | "stopping";
  /** Null until the database has answered once. */
  pool: Pool | null;
  current: CurrentRun | null;
  trouble: Trouble | null;
  missedTicks: number;
  /** When the last due moments came, of `performance.now()`; three are enough to judge by. */
  dueTicks: readonly number[];
}

export function openState(): WorkerState {
  return { phase: "starting", pool: null, current: null, trouble: null, missedTicks: 0, dueTicks: [] };
}

export function updateRun(state: WorkerState, change: Partial<CurrentRun>): void {
  if (state.current !== null) state.current = { ...state.current, ...change };
}

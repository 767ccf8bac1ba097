import type { Pool } from "../db/connect.ts";
import type { EndedRun } from "./known-runs.ts";

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

/** Why no run began at a due moment. */
export type MissReason = "running" | "database" | "asleep";

/** What the worker is doing: written by the loop, read by the routes. */
export interface WorkerState {
  phase: "starting" | "working" | "stopping";
  /** Null until the database has answered once. */
  pool: Pool | null;
  current: CurrentRun | null;
  trouble: Trouble | null;
  /** The runs of this process that ended, the newest first; at most `MOST_ENDED`. */
  ended: readonly EndedRun[];
  missedTicks: Readonly<Record<MissReason, number>>;
  /** When the last due moments came, of `performance.now()`; three are enough to judge by. */
  dueTicks: readonly number[];
}

const MOST_ENDED = 30;

export function openState(): WorkerState {
  const missedTicks = { running: 0, database: 0, asleep: 0 };
  return { phase: "starting", pool: null, current: null, trouble: null, ended: [], missedTicks, dueTicks: [] };
}

export function rememberRun(state: WorkerState, run: EndedRun): void {
  state.ended = [run, ...state.ended].slice(0, MOST_ENDED);
}

export function updateRun(state: WorkerState, change: Partial<CurrentRun>): void {
  if (state.current !== null) state.current = { ...state.current, ...change };
}

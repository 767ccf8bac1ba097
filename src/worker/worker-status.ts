import type { Pool } from "../db/connect.ts";
import type { RunRow } from "../db/read/recent-runs.ts";
import { schemaFault } from "../db/schema-state.ts";
import { formatCount, formatInstant, plural } from "../format.ts";
import { formatKey } from "../key.ts";
import type { Basics, CopyFigures, CopyReads, CopyState } from "./copy-reads.ts";
import type { Schedule } from "./schedule.ts";

/** The state of the worker that is in no table: written by the run loop, read by the HTTP routes. */
export interface WorkerState {
  phase: "starting" | "working" | "stopping";
  /** Null until the database has answered once. */
  pool: Pool | null;
  /** The run in progress. */
  current: CurrentRun | null;
  /** Why the last run ended neither as ok nor as partial, or did not start. Its `code` is a run status, `busy` or `configuration`. */
  trouble:
    | (StatusReason & { /** Null if the run never had a row in `sync_runs`. */ readonly runId: number | null })
    | null;
  /** The service asked for no requests until then; null if it did not. By the local clock, like the schedule. */
  pausedUntil: Date | null;
  /** How many due ticks started no run, by reason. */
  readonly missedTicks: Record<MissReason, number>;
}

interface CurrentRun {
  /** Null until the run has its row in `sync_runs`. */
  id: number | null;
  readonly startedAt: Date;
  /** When a scenario list was last received or a library stored, as `performance.now()`; null before that. */
  progressAt: number | null;
  /** The number of libraries to read; null until the run is planned. */
  toRead: number | null;
  /** The number of libraries that were stored or have failed. */
  done: number;
}

/** Why no run started at a due tick. `suspended`: the machine slept, or the event loop was blocked. */
export const MISS_REASONS = {
  running: "during a run",
  database: "database unreachable",
  suspended: "suspended",
  retry_after: "asked to wait",
} as const;
export type MissReason = keyof typeof MISS_REASONS;

export function createWorkerState(): WorkerState {
  const missedTicks = { running: 0, database: 0, suspended: 0, retry_after: 0 };
  return { phase: "starting", pool: null, current: null, trouble: null, pausedUntil: null, missedTicks };
}

/** Until when the service wants no requests; null if it accepts them now. */
export const pauseOf = ({ pausedUntil }: Readonly<WorkerState>) =>
  pausedUntil !== null && Date.now() < pausedUntil.getTime() ? pausedUntil : null;

interface StatusReason {
  /** Part of the public interface. */
  readonly code: string;
  readonly message: string;
}

/** The state of the worker and its copy at one moment. `/readyz`, the metrics and the status page are made from it. */
export interface WorkerStatus extends Pick<WorkerState, "current" | "missedTicks"> {
  /** By the local clock, like `nextRun`. */
  readonly now: Date;
  readonly ready: boolean;
  /** Why it is not ready, then the problems that do not affect readiness. Empty only if the copy is up to date. */
  readonly reasons: readonly StatusReason[];
  readonly nextRun: Date;
  readonly intervalMs: number;
  /** The present by the database's clock, and the last runs, newest first; null before the database has answered once. */
  readonly databaseNow: Date | null;
  readonly runs: readonly RunRow[];
  readonly lastGoodRun: RunRow | null;
  /** Time since the last good run ended; null before the first. */
  readonly sinceGoodRunMs: number | null;
  /** Null before they have been read once. */
  readonly figures: CopyFigures | null;
  /** Time since the database answered, if it does not answer now; otherwise null. */
  readonly silentMs: number | null;
}

interface StatusOptions {
  readonly state: Readonly<WorkerState>;
  readonly reads: Pick<CopyReads, "read">;
  readonly schedule: Schedule;
  /** A run without progress for longer than this is considered stuck. */
  readonly stuckAfterMs: number;
  /** Replaces the secrets in a message. */
  readonly mask: (message: string) => string;
}

/** Returns a function that reads the status. */
export function createStatusReader({ state, reads, schedule, stuckAfterMs, mask }: StatusOptions) {
  let firstSeen: { readonly runId: number; readonly at: number } | null = null;

  /** When the last good run ended, by `performance.now()`; null before the first. */
  function goodRunEnd({ lastGoodRun, readAt, now }: Basics): number | null {
    if (lastGoodRun === null) return null;
    if (firstSeen?.runId !== lastGoodRun.id) firstSeen = { runId: lastGoodRun.id, at: performance.now() };
    const agoMs = now.getTime() - (lastGoodRun.finishedAt ?? lastGoodRun.startedAt).getTime();
    // If the database's clock was set back, the run seems to end in the future.
    return Math.min(readAt - agoMs, firstSeen.at);
  }

  return async (): Promise<WorkerStatus> => {
    const { basics, figures, error } = await reads.read();
    const at = performance.now();
    const { current, missedTicks } = state;
    const goodRunEndedAt = basics && goodRunEnd(basics);
    const isProgressing = at - (current?.progressAt ?? Number.NEGATIVE_INFINITY) <= stuckAfterMs;
    const databaseError = error && mask(error.message);
    const lateBefore = schedule.lateBefore();
    return {
      ...judgeReadiness({ state, basics, figures, databaseError, goodRunEndedAt, lateBefore, isProgressing }),
      current,
      missedTicks,
      now: new Date(),
      nextRun: schedule.next(pauseOf(state) ?? undefined),
      intervalMs: schedule.intervalMs(),
      databaseNow: basics && new Date(basics.now.getTime() + at - basics.readAt),
      runs: basics?.runs ?? [],
      lastGoodRun: basics?.lastGoodRun ?? null,
      sinceGoodRunMs: goodRunEndedAt === null ? null : at - goodRunEndedAt,
      figures,
      silentMs: error === null || basics === null ? null : at - basics.readAt,
    };
  };
}

interface ReadinessFacts extends Pick<CopyState, "basics" | "figures"> {
  readonly state: Readonly<WorkerState>;
  /** Why the last read failed; null if it succeeded. */
  readonly databaseError: string | null;
  /** When the last good run ended, by `performance.now()`; null before the first. */
  readonly goodRunEndedAt: number | null;
  /** By the same clock: what was completed before it is late. */
  readonly lateBefore: number;
  readonly isProgressing: boolean;
}

/**
 * Ready: the database is reachable, its schema is current, and the last good run is not late or a run is making progress.
 * Libraries that fail or are behind do not affect readiness, because one broken library must not take the worker out of
 * service; a run that could read nothing is not a good run.
 */
function judgeReadiness(facts: ReadinessFacts): Pick<WorkerStatus, "ready" | "reasons"> {
  const { state, basics, databaseError, isProgressing } = facts;
  const late = judgeAge(facts);
  const blocking: StatusReason[] = [];
  if (state.phase === "stopping") blocking.push({ code: "stopping", message: "the worker is stopping" });
  if (state.phase === "starting")
    blocking.push({ code: "starting", message: "the worker is waiting for its database" });
  if (databaseError !== null) blocking.push({ code: "database_unreachable", message: databaseError });
  const fault = basics === null || databaseError !== null ? null : schemaFault(basics.schema);
  if (fault !== null) blocking.push({ code: fault.code, message: `${fault.problem}; ${fault.hint}` });
  if (!isProgressing) blocking.push(...late);
  const others = [...(isProgressing ? late : []), ...judgePause(state), ...judgeLastRun(facts), ...judgeContent(facts)];
  return { ready: blocking.length === 0 && basics !== null, reasons: [...blocking, ...others] };
}

function judgeAge({ basics, goodRunEndedAt, lateBefore }: ReadinessFacts): StatusReason[] {
  if (basics === null) return [];
  const { lastGoodRun } = basics;
  if (goodRunEndedAt === null || lastGoodRun === null)
    return [{ code: "no_good_run", message: "no run of all libraries has succeeded yet" }];
  if (goodRunEndedAt >= lateBefore) return [];
  const message = `the last good run (${lastGoodRun.id}) is older than three due runs; the copy may be out of date`;
  return [{ code: "stale", message }];
}

function judgePause(state: Readonly<WorkerState>): StatusReason[] {
  const pausedUntil = pauseOf(state);
  if (pausedUntil === null) return [];
  const message = `the service asked for no requests until ${formatInstant(pausedUntil)}; runs that are due until then are skipped`;
  return [{ code: "retry_after", message }];
}

/** The trouble of this worker's last run until the next good run of any process; otherwise a held last run. */
function judgeLastRun({ state: { trouble }, basics }: ReadinessFacts): StatusReason[] {
  const last = basics?.lastGoodRun ?? null;
  const isOver = trouble !== null && trouble.runId !== null && (last?.id ?? 0) > trouble.runId;
  if (trouble !== null && !isOver) return [{ code: trouble.code, message: trouble.message }];
  return last?.status === "held" ? [{ code: "held", message: last.error ?? "a guard held removals" }] : [];
}

const NAMED_LIBRARIES = 3;

/** Libraries that fail, items that cannot be stored, and content that is missing although runs succeed. */
function judgeContent({ figures, goodRunEndedAt, lateBefore }: ReadinessFacts): StatusReason[] {
  if (goodRunEndedAt === null) return [];
  const unknown = (message: string): StatusReason => ({ code: "freshness_unknown", message });
  if (figures === null) return [unknown("the state of the libraries has not been read yet")];
  const { failing, rejects, reported, now, readAt } = figures;
  const isLate = (at: Date) => readAt - (now.getTime() - at.getTime()) < lateBefore;
  const reasons: StatusReason[] = [];
  if (failing.total > 0) {
    const named = failing.shown.slice(0, NAMED_LIBRARIES);
    const left = failing.total - named.length;
    const names = `${named.map(formatKey).join(", ")}${left > 0 ? ` and ${formatCount(left)} more` : ""}`;
    const count = plural(failing.total, "library fails", "libraries fail");
    reasons.push({ code: "failing_libraries", message: `${count}: ${names}; simcat status lists the errors` });
  }
  if (rejects.total > 0) {
    const items = plural(rejects.total, "received item");
    reasons.push({ code: "open_rejects", message: `${items} could not be stored; simcat status lists them` });
  }
  if (reported === null)
    return [...reasons, unknown("the views of freshness cannot be read: no privilege, or their tables are locked")];
  const { completeAsOf, seenAsOf, behind } = reported;
  const incomplete = (message: string) => reasons.push({ code: "incomplete", message });
  if (completeAsOf === null || seenAsOf === null) incomplete("no run has seen and stored every library yet");
  else if (behind > 0 && isLate(completeAsOf)) {
    const libraries = plural(behind, "library is", "libraries are");
    incomplete(
      `${libraries} behind by more than three due runs; the copy is complete as of ${formatInstant(completeAsOf)}`,
    );
  } else if (isLate(seenAsOf) && goodRunEndedAt >= lateBefore) {
    incomplete(
      `the copy shows the service as of ${formatInstant(seenAsOf)}: later listings came from a cache or were incomplete, or a run took longer than three due runs`,
    );
  }
  return reasons;
}

/** The body of `/readyz`. Times are ISO texts. */
export function toReadyJson(status: WorkerStatus) {
  const { ready, reasons, lastGoodRun, nextRun, current, figures } = status;
  return {
    ready,
    reasons,
    complete_as_of: figures?.reported?.completeAsOf ?? null,
    failing_libraries: figures?.failing.total ?? null,
    last_good_run: lastGoodRun && {
      id: lastGoodRun.id,
      kind: lastGoodRun.kind,
      status: lastGoodRun.status,
      started_at: lastGoodRun.startedAt,
      finished_at: lastGoodRun.finishedAt,
    },
    next_run: nextRun,
    current_run: current && {
      id: current.id,
      started_at: current.startedAt,
      to_read: current.toRead,
      done: current.done,
    },
  };
}

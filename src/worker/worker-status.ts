import { schemaFault } from "../db/schema-state.ts";
import { formatCount, formatInstant, plural } from "../format.ts";
import { formatKey } from "../key.ts";
import type { CopyFigures, CopyReads } from "./copy-reads.ts";
import type { Schedule } from "./schedule.ts";

/** The state of the worker that is in no table: written by the run loop, read by the HTTP routes. */
export interface WorkerState {
  /** The run in progress. */
  current: CurrentRun | null;
  /** Why the last run ended neither as ok nor as partial, or did not start. Its `code` is a run status, `busy` or `configuration`. */
  trouble:
    | (StatusReason & {
        /** If the run never had a row in `sync_runs`: the last good run before, 0 without one. A later good run ends the trouble. */
        readonly runId: number;
      })
    | null;
}

export interface CurrentRun {
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

interface StatusReason {
  /** Part of the public interface. */
  readonly code: string;
  readonly message: string;
}

/** Adds a reason; `blocks`: the worker is not ready. */
type AddReason = (code: string, message: string, blocks?: boolean) => void;

/** The state of the worker and its copy at one moment. `/readyz`, the metrics and the status page are made from it. */
export type WorkerStatus = Awaited<ReturnType<ReturnType<typeof createStatusReader>>>;

export interface StatusSources {
  readonly state: WorkerState;
  readonly reads: CopyReads;
  readonly schedule: Schedule;
  /** Replaces the secrets in a message. */
  readonly mask: (message: string) => string;
}

/**
 * Ready: the database is reachable, its schema is current, and the last good run is not late or a run has progressed in `stuckAfterMs`.
 * Libraries that fail or are behind do not affect readiness, because one broken library must not take the worker out of service; a run
 * that could read nothing is not a good run. `signal` stops the worker.
 */
export function createStatusReader(
  { state, reads, schedule, mask }: StatusSources,
  stuckAfterMs: number,
  signal: AbortSignal,
) {
  let firstSeen = { runId: 0, at: 0 };
  return async () => {
    const { basics, figures, error } = await reads.read();
    const last = basics?.lastGoodRun;
    if (last && firstSeen.runId !== last.id) firstSeen = { runId: last.id, at: performance.now() };
    const msSince = (at: Date) => (basics === null ? 0 : basics.now().getTime() - at.getTime());
    // If the database's clock was set back, the run seems to end in the future.
    const sinceEndMs = last && Math.max(msSince(last.finishedAt ?? last.startedAt), performance.now() - firstSeen.at);
    const sinceGoodRunMs = basics === null ? null : sinceEndMs;
    const lateAfterMs = schedule.lateAfterMs();
    const isLate = (at: Date) => msSince(at) > lateAfterMs;
    const isStale = (sinceGoodRunMs ?? 0) > lateAfterMs;
    const isProgressing = performance.now() - (state.current?.progressAt ?? Number.NEGATIVE_INFINITY) <= stuckAfterMs;
    let ready = true;
    const reasons: StatusReason[] = [];
    const add: AddReason = (code, message, blocks = false) => {
      reasons.push({ code, message: mask(message) });
      if (blocks) ready = false;
    };

    const fault = basics && schemaFault(basics.schema);
    if (signal.aborted) add("stopping", "the worker is stopping", true);
    else if (error !== null) add("database_unreachable", error.message, true);
    else if (basics === null) add("starting", "the worker is waiting for its database", true);
    else if (fault !== null) add(fault.code, `${fault.problem}; ${fault.hint}`, true);

    if (last === null) {
      // Another process may store everything for the first time.
      const isElsewhere = basics?.runs.some(
        ({ id, status, scope, isDead }) => status === "running" && !scope && !isDead && id !== state.current?.id,
      );
      add("no_good_run", "no run of all libraries has succeeded yet", !isProgressing && !isElsewhere);
    }
    if (isStale) {
      const since = `the last good run (${last?.id}) is older than three due runs`;
      add("stale", `${since}; the copy may be out of date`, !isProgressing);
    }

    const until = schedule.pausedUntil();
    if (until !== null) {
      const skipped = "runs that are due until then are skipped";
      add("retry_after", `the service asked for no requests until ${formatInstant(until)}; ${skipped}`);
    }
    // The next good run of any process ends the trouble, but does not show that this one's configuration is valid.
    const { trouble } = state;
    const isOver = trouble !== null && trouble.code !== "configuration" && (last?.id ?? 0) > trouble.runId;
    const isFree = trouble?.code === "busy" && (basics?.holder === null || state.current?.id != null);
    if (trouble !== null && !isOver && !isFree) add(trouble.code, trouble.message);
    else if (last?.status === "held") add("held", last.error ?? "a guard held removals");
    if (last) addContent(figures, isLate, isStale, add);
    return {
      ready,
      /** Why it is not ready, then the problems that do not affect readiness. Empty only if the copy is up to date. */
      reasons,
      current: state.current,
      basics,
      figures,
      /** By the local clock, like `nextRun`. */
      now: new Date(),
      nextRun: schedule.next(),
      intervalMs: schedule.intervalMs(),
      /** Time since the last good run ended; null before the first, undefined while the schema is older than this program. */
      sinceGoodRunMs,
    };
  };
}

/** Adds libraries that fail, items that cannot be stored, and content that is missing although runs succeed. */
function addContent(figures: CopyFigures | null, isLate: (at: Date) => boolean, isStale: boolean, add: AddReason) {
  if (figures === null) {
    const why = "no privilege on simcat_report, or their tables are locked";
    return add("freshness_unknown", `the libraries could not be counted: ${why}`);
  }
  const { failing, rejects, completeAsOf, seenAsOf, behind } = figures;
  if (failing.total > 0) {
    const named = failing.shown.slice(0, 3);
    const left = failing.total - named.length;
    const names = `${named.map(formatKey).join(", ")}${left > 0 ? ` and ${formatCount(left)} more` : ""}`;
    const count = plural(failing.total, "library fails", "libraries fail");
    add("failing_libraries", `${count}: ${names}; simcat status lists the errors`);
  }
  if (rejects.total > 0) {
    const items = plural(rejects.total, "received item");
    add("open_rejects", `${items} could not be stored; simcat status lists them`);
  }
  if (completeAsOf === null || seenAsOf === null) {
    const unknown = "or a cache does not say how old its answers are";
    add("incomplete", `no run has seen and stored every library yet, ${unknown}`);
  } else if (isLate(seenAsOf) && !isStale) {
    const why = "later listings came from a cache or were incomplete, or a run took longer than three due runs";
    add("incomplete", `the copy shows the service as of ${formatInstant(seenAsOf)}: ${why}`);
  } else if (behind > 0 && isLate(completeAsOf)) {
    const are = plural(behind, "library is", "libraries are");
    add("incomplete", `${are} behind; the copy is complete as of ${formatInstant(completeAsOf)}`);
  }
}

/** The body of `/readyz`. Times are ISO texts. */
export function toReadyJson({ ready, reasons, basics, nextRun, current, figures }: WorkerStatus) {
  const run = basics?.lastGoodRun ?? null;
  return {
    ready,
    reasons,
    complete_as_of: figures?.completeAsOf ?? null,
    failing_libraries: figures?.failing.total ?? null,
    last_good_run: run && {
      id: run.id,
      kind: run.kind,
      status: run.status,
      started_at: run.startedAt,
      finished_at: run.finishedAt,
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

import type { Pool } from "../db/connect.ts";
import { planPrune, pruneUnderLease, sumOf } from "../db/prune.ts";
import { BusyError, ConfigurationError, EXIT, SimcatError, SourceUnavailableError, toError } from "../errors.ts";
import { formatInstant } from "../format.ts";
import type { Logger } from "../log.ts";
import type { RunEnd } from "../run-summary.ts";
import { outcomeOfError } from "../sync/run-totals.ts";
import type { ObservedEvent, Observer, RunResult } from "../sync/run-types.ts";
import { DAY_MS, formatDuration } from "../units.ts";
import type { Metrics, MissReason } from "./metrics.ts";
import type { CurrentRun, StatusSources } from "./worker-status.ts";

/** The dependencies of the loop and of its runs. */
export interface WorkerContext extends StatusSources {
  /** Null: all history is kept. */
  readonly keepHistoryMs: number | null;
  readonly pool: Pool;
  /** Runs `sync` once; the observers see it. Throws if it cannot start. */
  readonly run: (observers: readonly Observer[]) => Promise<RunResult>;
  /** Sends a message about a change between good and not good, in the background. */
  readonly sendMessage: (end: RunEnd) => void;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * Runs `sync` on schedule until `signal` is aborted, and at the start if the last good run is older than the interval. One
 * run at a time: a tick during a run, or during a pause that the service asked for, is logged and skipped.
 * @returns the exit code: that of the signal if it interrupted a run, otherwise ok
 */
export async function runSyncLoop(context: WorkerContext, signal: AbortSignal): Promise<number> {
  const { state, log, schedule, reads, metrics } = context;
  let running: Promise<RunResult | null> | null = null;
  const pruneHistory = createHistoryPruner(context);
  const logNextRun = () =>
    log.info({ code: "next_run", at: schedule.next().toISOString() }, "waiting for the next run");
  const runAndPrune = async () => {
    const result = await runScheduled(context, signal);
    if (result?.summary.isGood) await pruneHistory(signal);
    running = null;
    if (!signal.aborted) logNextRun();
    return result;
  };
  const missTicks = (reason: MissReason, count: number) => {
    metrics.missedTicks(reason, count);
    log.warn({ code: "missed_tick", reason, count, run: state.current?.id }, "no run started at due ticks");
  };
  const onDue = () => {
    if (running !== null) void reads.read().then(({ error }) => missTicks(error === null ? "running" : "database", 1));
    else if (schedule.pausedUntil() !== null) missTicks("retry_after", 1);
    else running = runAndPrune();
  };
  if (await isRunDue(context)) running = runAndPrune();
  else logNextRun();
  await schedule.run(onDue, (count) => missTicks("suspended", count), signal);
  log.info({ code: "worker_stopping", run: state.current?.id }, "stop signal received; no further run starts");
  const last = await (running as Promise<RunResult | null> | null);
  const { reason } = signal;
  return last?.error === reason && reason instanceof SimcatError ? reason.exitCode : EXIT.ok;
}

/** True if there is no good run without selectors, or if the last one is older than the interval by the database's clock. */
async function isRunDue({ reads, log, schedule }: WorkerContext): Promise<boolean> {
  // A probe may have found no database yet.
  await reads.refresh();
  const { basics } = await reads.read();
  const last = basics?.lastGoodRun;
  if (!basics || !last) return true;
  if (basics.now().getTime() - last.startedAt.getTime() > schedule.intervalMs()) return true;
  log.info({ code: "run_not_due", run: last.id }, "the last good run is recent enough; waiting for the next tick");
  return false;
}

/** Null if the run did not start. Does not throw if it fails, so that the worker continues. */
async function runScheduled(context: WorkerContext, signal: AbortSignal): Promise<RunResult | null> {
  const { state, metrics, log, reads, schedule } = context;
  const current: CurrentRun = { id: null, startedAt: new Date(), progressAt: null, toRead: null, done: 0 };
  state.current = current;
  try {
    // If the database is unreachable afterwards, probes and the page still show this run.
    const result = await context.run([
      metrics.observe,
      (event) => observeProgress(current, event),
      (event) => (event.kind === "finished" ? reads.refresh() : undefined),
    ]);
    const { id, status, error: message } = result.summary;
    context.sendMessage(result.summary);
    const isTrouble = status !== "ok" && status !== "partial";
    state.trouble = isTrouble ? { code: status, message: message ?? status, runId: id } : null;
    if (result.error instanceof SourceUnavailableError) schedule.pause(result.error.retryAfterMs ?? 0);
    const until = schedule.pausedUntil();
    if (until !== null)
      log.warn({ code: "retry_after", until: formatInstant(until) }, "the service asked for a pause until then");
    return result;
  } catch (thrown) {
    // A stop signal before the start of the run interrupts nothing.
    if (!(signal.aborted && thrown === signal.reason)) await logNotStarted(context, thrown);
    return null;
  } finally {
    state.current = null;
  }
}

function observeProgress(current: CurrentRun, event: ObservedEvent): void {
  const isContent = event.kind === "request" && event.operation === "scenarios" && event.outcome === "2xx";
  if (isContent || event.kind === "stored") current.progressAt = performance.now();
  if (event.kind === "started") current.id = event.id;
  if (event.kind === "planned") current.toRead = event.toRead;
  if (event.kind === "stored" || event.kind === "failed") current.done += 1;
}

/** A run that did not start has no row in `sync_runs`. Only the log, the metrics and `/readyz` show it. */
async function logNotStarted(context: WorkerContext, thrown: unknown): Promise<void> {
  const { state, metrics, log, mask, sendMessage, reads } = context;
  const runId = (await reads.read()).basics?.lastGoodRun?.id ?? 0;
  if (thrown instanceof BusyError) {
    metrics.busyTick();
    state.trouble = { code: thrown.code, message: thrown.message, runId };
    log.warn({ code: thrown.code, detail: thrown.message }, "another run is in progress; waiting for the next tick");
    return;
  }
  const { status, message, error } = outcomeOfError(thrown);
  const masked = mask(message ?? status);
  const code = thrown instanceof ConfigurationError ? thrown.code : status;
  metrics.notStarted(status);
  sendMessage({ id: null, status: code, isGood: false, error: masked });
  state.trouble = { code, message: masked, runId };
  const line = { code, error: masked, ...(error instanceof SimcatError ? {} : { stack: error?.stack }) };
  log[status === "database_failed" ? "warn" : "error"](line, "run could not start");
}

/** Returns a function that prunes the history at most once in 24 hours, under the lease of the runs. A failure is a warning. */
function createHistoryPruner({ pool, log, mask, keepHistoryMs }: WorkerContext) {
  let nextAt = Number.NEGATIVE_INFINITY;
  return async (signal: AbortSignal): Promise<void> => {
    if (keepHistoryMs === null || performance.now() < nextAt || signal.aborted) return;
    nextAt = performance.now() + DAY_MS;
    try {
      const plan = await planPrune(pool, keepHistoryMs, false, signal);
      const rows = sumOf(await pruneUnderLease(pool, plan, () => {}, signal));
      const line = { code: "history_pruned", rows, before: plan.cutoff.toISOString() };
      log.info(line, `history older than ${formatDuration(keepHistoryMs)} pruned`);
    } catch (thrown) {
      const error = mask(toError(thrown).message);
      if (!signal.aborted) log.warn({ code: "prune_failed", error }, "history not pruned; next attempt in a day");
    }
  };
}

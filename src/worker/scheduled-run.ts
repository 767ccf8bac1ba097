import { createClock } from "../db/clock.ts";
import type { Pool } from "../db/connect.ts";
import { databaseError, isConnectionLost } from "../db/db-errors.ts";
import { assertUsable, readSchemaState } from "../db/schema-state.ts";
import { readSnapshot } from "../db/transaction.ts";
import { BusyError, ConfigurationError, SimcatError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { createProgressLine } from "../report/progress.ts";
import { createRunLog } from "../report/run-log.ts";
import type { RunRequest } from "../run-report.ts";
import type { Service, ServiceEvent } from "../service/client.ts";
import { runSync } from "../sync/run.ts";
import { outcomeOfError } from "../sync/run-outcome.ts";
import type { RunEvent, RunResult, RunSettings } from "../sync/run-types.ts";
import type { Metrics } from "./metrics.ts";
import { addEndedRun, type EndedRun, toRunRow, updateRun, type WorkerState } from "./worker-state.ts";

/** The dependencies of every run of the worker. */
export interface WorkerContext {
  readonly settings: RunSettings;
  readonly version: string;
  readonly pool: Pool;
  /**
   * Runs `work` with a client of the service. The API key is read again for each run.
   * @throws ConfigurationError if the key cannot be read
   */
  readonly withService: <T>(
    onEvent: (event: ServiceEvent) => void,
    work: (service: Service) => Promise<T>,
  ) => Promise<T>;
  /** Replaces the secrets in a message. */
  readonly mask: (message: string) => string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly state: WorkerState;
  /** Returns why the database cannot be reached at the moment, null if it can. */
  readonly checkDatabase: () => Promise<string | null>;
}

const REQUEST: RunRequest = {
  kind: "sync",
  trigger: "schedule",
  selection: { libraries: [], owners: [] },
  allowRemovals: false,
  restart: false,
};

/**
 * Runs one sync, logs it and counts it in the metrics. Does not throw if the run fails, so that the worker continues.
 * @returns the result of the run; null if it did not start
 */
export async function runScheduled(context: WorkerContext, signal: AbortSignal): Promise<RunResult | null> {
  const { state, metrics } = context;
  state.current = { id: null, startedAt: new Date(), progressAt: null, toRead: null, done: 0 };
  try {
    const { result, ended } = await runAndLog(context, signal);
    const { id, status, error } = result.report;
    addEndedRun(state, ended);
    metrics.finished(result.report);
    state.trouble =
      status === "ok" || status === "partial" ? null : { code: status, message: error ?? status, runId: id };
    return result;
  } catch (thrown) {
    // A stop signal before the start of the run interrupts nothing.
    if (!(signal.aborted && thrown === signal.reason)) reportNotStarted(context, thrown);
    return null;
  } finally {
    state.current = null;
  }
}

async function runAndLog(
  context: WorkerContext,
  signal: AbortSignal,
): Promise<{ readonly result: RunResult; readonly ended: EndedRun }> {
  const { settings, version, pool, mask, metrics, state } = context;
  const runLog = createRunLog(context.log);
  const progress = createProgressLine(null, runLog.progress);
  const onRunEvent = (event: RunEvent) => {
    progress.event(event);
    runLog.event(event);
    updateProgress(state, event);
  };
  const onServiceEvent = (event: ServiceEvent) => {
    metrics.service(event);
    runLog.service(event);
    if (event.kind === "request" && event.outcome === "2xx") updateRun(state, { progressAt: performance.now() });
  };
  try {
    const logged = await context.withService(onServiceEvent, async (service) => {
      // Another process may have migrated the schema since the last run.
      assertUsable(await readSnapshot(pool, "looking at the schema", readSchemaState, signal));
      const clock = await createClock(pool, signal);
      const tools = { pool, clock, service, settings, version, mask, onEvent: onRunEvent };
      const result = await runSync(tools, REQUEST, signal);
      const endedAt = performance.now();
      return { result, ended: { row: toRunRow(result.report, new Date(clock.at(endedAt))), endedAt } };
    });
    runLog.finished(logged.result.report);
    return logged;
  } finally {
    progress.end();
  }
}

function updateProgress(state: WorkerState, event: RunEvent): void {
  const done = (state.current?.done ?? 0) + 1;
  if (event.kind === "started") updateRun(state, { id: event.id });
  if (event.kind === "planned") updateRun(state, { toRead: event.toRead });
  if (event.kind === "stored") updateRun(state, { done, progressAt: performance.now() });
  if (event.kind === "failed") updateRun(state, { done });
}

/** A run that did not start has no row in `sync_runs`. Only the log, the metrics and `/readyz` report it. */
function reportNotStarted({ state, metrics, log, mask }: WorkerContext, thrown: unknown): void {
  if (thrown instanceof BusyError) {
    metrics.busyTick();
    state.trouble = { code: thrown.code, message: thrown.message, runId: null };
    log.warn({ code: thrown.code, detail: thrown.message }, "another run is in progress; waiting for the next tick");
    return;
  }
  const { status, message, error } = outcomeOfError(
    isConnectionLost(thrown) ? databaseError("starting the run", thrown) : thrown,
  );
  const masked = mask(message ?? status);
  const code = thrown instanceof ConfigurationError ? thrown.code : status;
  metrics.notStarted(status);
  state.trouble = { code, message: masked, runId: null };
  const line = { code, error: masked, ...(error instanceof SimcatError ? {} : { stack: error?.stack }) };
  if (status === "database_failed") log.warn(line, "run could not start");
  else log.error(line, "run could not start");
}

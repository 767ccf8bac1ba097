import { createClock } from "../db/clock.ts";
import type { Pool } from "../db/connect.ts";
import { databaseError, isConnectionLost } from "../db/db-errors.ts";
import { assertUsable, readSchemaState } from "../db/schema-state.ts";
import { readSnapshot } from "../db/transaction.ts";
import { BusyError, ConfigurationError, SimcatError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { followRun } from "../report/progress.ts";
import { logRun } from "../report/run-log.ts";
import type { Service, ServiceEvent } from "../service/client.ts";
import { runSync } from "../sync/run.ts";
import { outcomeOfError } from "../sync/run-outcome.ts";
import type { RunEvent, RunRequest, RunResult, RunSettings } from "../sync/run-types.ts";
import { type EndedRun, toRunRow } from "./known-runs.ts";
import type { Metrics } from "./metrics.ts";
import { rememberRun, updateRun, type WorkerState } from "./state.ts";

/** What the worker's runs share. */
export interface Desk {
  readonly settings: RunSettings;
  readonly version: string;
  readonly pool: Pool;
  /**
   * Opens the service's client for one run, with the key as it is by then.
   * @throws ConfigurationError where there is none to be read
   */
  readonly withService: <T>(
    onEvent: (event: ServiceEvent) => void,
    work: (service: Service) => Promise<T>,
  ) => Promise<T>;
  /** Takes the secrets out of a message. */
  readonly mask: (message: string) => string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly state: WorkerState;
  /** Why the database cannot be asked just now; null when it can. */
  readonly askDatabase: () => Promise<string | null>;
}

const REQUEST: RunRequest = {
  kind: "sync",
  trigger: "schedule",
  selection: { libraries: [], owners: [] },
  allowRemovals: false,
  restart: false,
};

/**
 * One run of the worker's: followed, counted and logged. However it ends, the worker goes on.
 * @returns what the run ended with; null when it never began
 */
export async function runScheduled(desk: Desk, signal: AbortSignal): Promise<RunResult | null> {
  const { state, metrics } = desk;
  state.current = { id: null, startedAt: new Date(), progressAt: null, toRead: null, done: 0 };
  try {
    const { result, ended } = await runFollowed(desk, signal);
    const { id, status, error } = result.report;
    rememberRun(state, ended);
    metrics.finished(result.report);
    state.trouble =
      status === "ok" || status === "partial" ? null : { code: status, message: error ?? status, runId: id };
    return result;
  } catch (thrown) {
    // Told to stop before it had begun: nothing was interrupted.
    if (!(signal.aborted && thrown === signal.reason)) tellUnbegun(desk, thrown);
    return null;
  } finally {
    state.current = null;
  }
}

async function runFollowed(
  desk: Desk,
  signal: AbortSignal,
): Promise<{ readonly result: RunResult; readonly ended: EndedRun }> {
  const { settings, version, pool, mask, metrics, state } = desk;
  const lines = logRun(desk.log);
  const progress = followRun(null, lines.progress);
  const onRunEvent = (event: RunEvent) => {
    progress.event(event);
    lines.event(event);
    follow(state, event);
  };
  const onEvent = (event: ServiceEvent) => {
    metrics.service(event);
    lines.service(event);
    if (event.kind === "request" && event.outcome === "2xx") updateRun(state, { progressAt: performance.now() });
  };
  try {
    const followed = await desk.withService(onEvent, async (service) => {
      // Somebody may have migrated it while we waited.
      assertUsable(await readSnapshot(pool, "looking at the schema", readSchemaState, signal));
      const clock = await createClock(pool, signal);
      const result = await runSync(
        { pool, clock, service, settings, version, mask, onEvent: onRunEvent },
        REQUEST,
        signal,
      );
      const endedAt = performance.now();
      return { result, ended: { row: toRunRow(result.report, new Date(clock.at(endedAt))), endedAt } };
    });
    lines.finished(followed.result.report);
    return followed;
  } finally {
    progress.end();
  }
}

function follow(state: WorkerState, event: RunEvent): void {
  const done = (state.current?.done ?? 0) + 1;
  if (event.kind === "started") updateRun(state, { id: event.id });
  if (event.kind === "planned") updateRun(state, { toRead: event.toRead });
  if (event.kind === "stored") updateRun(state, { done, progressAt: performance.now() });
  if (event.kind === "failed") updateRun(state, { done });
}

/** It has no row in the database, so that the log, the metrics and /readyz are all who know of it. */
function tellUnbegun({ state, metrics, log, mask }: Desk, thrown: unknown): void {
  if (thrown instanceof BusyError) {
    metrics.busy();
    state.trouble = { code: thrown.code, message: thrown.message, runId: null };
    log.warn({ code: thrown.code, detail: thrown.message }, "another run is at work; waiting for the next tick");
    return;
  }
  const { status, message, error } = outcomeOfError(
    isConnectionLost(thrown) ? databaseError("beginning the run", thrown) : thrown,
  );
  const masked = mask(message ?? status);
  const code = thrown instanceof ConfigurationError ? thrown.code : status;
  metrics.unbegun(status);
  state.trouble = { code, message: masked, runId: null };
  const line = { code, error: masked, ...(error instanceof SimcatError ? {} : { stack: error?.stack }) };
  if (status === "database_failed") log.warn(line, "run could not begin");
  else log.error(line, "run could not begin");
}

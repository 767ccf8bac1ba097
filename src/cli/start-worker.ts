import { aborted, withTimeout } from "../async.ts";
import { createLog, isColored, type Logger } from "../log.ts";
import { openHttpServer } from "../worker/http-server.ts";
import { createMetrics } from "../worker/metrics.ts";
import { createRoutes } from "../worker/routes.ts";
import { createSchedule } from "../worker/schedule.ts";
import type { WorkerContext } from "../worker/scheduled-run.ts";
import { createStatusReader } from "../worker/status-reader.ts";
import { runSyncLoop } from "../worker/sync-loop.ts";
import { createWorkerState } from "../worker/worker-state.ts";
import { withDatabase, withService } from "./connections.ts";
import type { Context } from "./context.ts";
import { loadServiceSettings, withCurrentKey } from "./settings.ts";

/** A run counts as stuck if it makes no progress for this long after its longest request and wait. */
const STUCK_MARGIN_MS = 60_000;

/** When a tick is missed, the state of the database may have been read this long ago. */
const MAX_STATE_AGE_MS = 500;

/** Runs `sync` on a schedule, and serves probes, metrics and the status page over HTTP, until a signal stops it. */
export async function startWorker(context: Context): Promise<number> {
  const { stop, terminal, version, draw, mask } = context;
  const config = loadServiceSettings(context);
  const { baseUrl, timezone, requestTimeoutMs, maxRetryWaitMs } = config;
  const schedule = createSchedule(config);
  const log = createLog(config, terminal.isErr, draw, mask, isColored(context.environment, terminal.isErr));
  const state = createWorkerState();
  const metrics = createMetrics(version);
  const stuckAfterMs = requestTimeoutMs + maxRetryWaitMs + STUCK_MARGIN_MS;
  const statusReader = createStatusReader({
    state,
    schedule,
    stuckAfterMs,
    version,
    timezone,
    serviceHost: baseUrl.host,
    mask,
  });
  const onError = (error: unknown) =>
    log.error({ code: "http_failed", error: String(error) }, "a request could not be answered");
  const server = await openHttpServer(
    { host: config.httpHost, port: config.httpPort, onError },
    createRoutes(statusReader, metrics, schedule.isAlive),
  );
  try {
    log.info(
      { code: "worker_started", url: server.url, schedule: config.schedule, timezone, version },
      "the worker is up",
    );
    const work = withDatabase(context, config, "migrate", (pool) => {
      state.pool = pool;
      const worker: WorkerContext = {
        settings: config,
        version,
        pool,
        withService: async (onEvent, run) => withService(context, withCurrentKey(context, config), { onEvent }, run),
        mask,
        log,
        metrics,
        state,
        checkDatabase: async () => (await statusReader.snapshot(MAX_STATE_AGE_MS)).databaseError,
      };
      return runSyncLoop(worker, schedule, stop).finally(() => {
        state.pool = null;
      });
    });
    const exitCode = await withShutdownDeadline(work, log, stop);
    log.info({ code: "worker_stopped" }, "stopped");
    return exitCode;
  } finally {
    schedule.stop();
    await server.close();
  }
}

/** Kubernetes kills a pod 30 s after SIGTERM. The rest is left to close the server, the pool and the embedded database. */
const SHUTDOWN_DEADLINE_MS = 22_000;

/**
 * Settles like `work`, but rejects with the signal's reason if the work is still running 22 s after the signal. Content
 * that is not stored by then is read again by the next run, as after a crash.
 */
async function withShutdownDeadline<T>(work: Promise<T>, log: Logger, signal: AbortSignal): Promise<T> {
  await Promise.race([work, aborted(signal)]);
  const result = await withTimeout(work, SHUTDOWN_DEADLINE_MS);
  if (result !== "timeout") return result;
  log.error({ code: "drain_timeout", after_ms: SHUTDOWN_DEADLINE_MS }, "the run did not end in time and was abandoned");
  throw signal.reason;
}

import { createLog, isColored } from "../log.ts";
import { withinGrace } from "../worker/grace.ts";
import { openHttpServer } from "../worker/http-server.ts";
import { keepSyncing } from "../worker/loop.ts";
import { openMetrics } from "../worker/metrics.ts";
import { openObserver } from "../worker/observer.ts";
import { openRoutes } from "../worker/routes.ts";
import { openSchedule } from "../worker/schedule.ts";
import type { Desk } from "../worker/scheduled-run.ts";
import { openState } from "../worker/state.ts";
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
  const { timezone, requestTimeoutMs, maxRetryWaitMs } = config;
  const schedule = openSchedule(config);
  const log = createLog(config, terminal.isErr, draw, mask, isColored(context.environment, terminal.isErr));
  const state = openState();
  const metrics = openMetrics(version);
  const stuckAfterMs = requestTimeoutMs + maxRetryWaitMs + STUCK_MARGIN_MS;
  const observer = openObserver({ state, schedule, stuckAfterMs, version, timezone, mask });
  const onError = (error: unknown) =>
    log.error({ code: "http_failed", error: String(error) }, "a request could not be answered");
  const server = await openHttpServer(
    { host: config.httpHost, port: config.httpPort, onError },
    openRoutes(observer, metrics, schedule.isAlive),
  );
  try {
    log.info(
      { code: "worker_started", url: server.url, schedule: config.schedule, timezone, version },
      "the worker is up",
    );
    const work = withDatabase(context, config, "migrate", (pool) => {
      state.pool = pool;
      const desk: Desk = {
        settings: config,
        version,
        pool,
        withService: async (onEvent, run) => withService(context, withCurrentKey(context, config), { onEvent }, run),
        mask,
        log,
        metrics,
        state,
        askDatabase: async () => (await observer.look(MAX_STATE_AGE_MS)).databaseError,
      };
      return keepSyncing(desk, schedule, stop).finally(() => {
        state.pool = null;
      });
    });
    const exitCode = await withinGrace(work, log, stop);
    log.info({ code: "worker_stopped" }, "stopped");
    return exitCode;
  } finally {
    schedule.stop();
    await server.close();
  }
}

import type { Connection, Pool } from "../db/connect.ts";
import { assertUsable, loadSchema, readSchemaState } from "../db/schema-state.ts";
import { readSnapshot } from "../db/transaction.ts";
import { createLog } from "../log.ts";
import { CONTENT_SECURITY_POLICY } from "../report/html/page.ts";
import type { RunEnd, RunRequest } from "../run-summary.ts";
import { MINUTE_MS } from "../units.ts";
import { createCopyReads } from "../worker/copy-reads.ts";
import { openHttpServer, type Routes } from "../worker/http-server.ts";
import { createMetrics } from "../worker/metrics.ts";
import { createSchedule } from "../worker/schedule.ts";
import { formatStatusPage } from "../worker/status-page.ts";
import { runSyncLoop, type WorkerContext } from "../worker/sync-loop.ts";
import { createStatusReader, toReadyJson, type WorkerState } from "../worker/worker-status.ts";
import type { DefineCommand } from "./command.ts";
import { withDatabase } from "./connections.ts";
import type { Context } from "./context.ts";
import { loadSettings, withCurrentKey } from "./load-settings.ts";
import { observeRun } from "./sync.ts";
import { createWebhook } from "./webhook.ts";

export const defineStart: DefineCommand = (command, run) => command.action(run(start));

const SCHEDULED_SYNC: RunRequest = {
  kind: "sync",
  trigger: "schedule",
  selection: { libraries: [], owners: [] },
  allowRemovals: false,
  restart: false,
};

/** Runs until a signal. All of it is loaded first, so that an update of the installed files does not affect a running worker. */
export async function start(context: Context): Promise<number> {
  const { stop, version, mask } = context;
  const config = loadSettings(context, { service: true, database: true, whole: true });
  // `withService` loads it, so that other commands do without.
  await import("../service/client.ts");
  const { schedule: cron, timezone, requestTimeoutMs, maxRetryWaitMs, keepHistoryMs } = config;
  const schedule = createSchedule(config);
  const log = createLog(config, context);
  const state: WorkerState = { current: null, trouble: null };
  const metrics = createMetrics(version);
  const schema = loadSchema();
  /** Null until the database has answered once. */
  let opened: Pool | null = null;
  const sources = { state, reads: createCopyReads(() => opened, schema), schedule, mask };
  // A run is stuck if it makes no progress for a minute after its longest request and wait.
  const readStatus = createStatusReader(sources, requestTimeoutMs + maxRetryWaitMs + MINUTE_MS, stop);
  const routes: Routes = {
    "/": async () => ({
      body: formatStatusPage(await readStatus(), config, version),
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": `${CONTENT_SECURITY_POLICY}; frame-ancestors 'none'`,
      },
    }),
    // Any answer shows that the event loop is not blocked.
    "/healthz": async () => ({ body: "ok\n" }),
    "/readyz": async () => {
      const status = await readStatus();
      const headers = { "content-type": "application/json; charset=utf-8" };
      return { status: status.ready ? 200 : 503, body: `${JSON.stringify(toReadyJson(status))}\n`, headers };
    },
    "/metrics": async () => metrics.scrape(await readStatus()),
  };
  const onError = (error: unknown) =>
    log.error({ code: "http_failed", error: String(error) }, "a request could not be answered");
  const server = await openHttpServer(config, routes, onError);
  try {
    log.info({ code: "worker_started", url: server.url, schedule: cron, timezone, version }, "the worker is up");
    const exitCode = await withDatabase(context, config, "migrate", async (pool, _, ensureRunning) => {
      opened = pool;
      const { readRuns, send } = createWebhook(context, config, pool);
      await readRuns();
      const run: WorkerContext["run"] = async (observers) => {
        await ensureRunning(stop);
        const current = withCurrentKey(context, config);
        // Another process may have migrated the schema since the last run.
        const readState = (connection: Connection) => readSchemaState(connection, schema);
        assertUsable(await readSnapshot(pool, "looking at the schema", readState, stop));
        const result = await observeRun(context, current, pool, SCHEDULED_SYNC, observers);
        // Another process may have sent a message before this run held the lease.
        const { id, status } = result.summary;
        if (status !== "database_failed") await readRuns(id).catch(() => {});
        return result;
      };
      // The next process would take a message for sent.
      let sent = Promise.resolve();
      const sendMessage = (end: RunEnd) => {
        sent = sent.then(() => send(end));
      };
      return runSyncLoop({ ...sources, keepHistoryMs, pool, run, sendMessage, log, metrics }, stop).finally(() => sent);
    });
    log.info({ code: "worker_stopped" }, "stopped");
    return exitCode;
  } finally {
    await server.close();
  }
}

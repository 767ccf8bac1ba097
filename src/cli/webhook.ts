import { createHmac } from "node:crypto";
import { request } from "undici";
import { sleep, withTimeout } from "../async.ts";
import type { Environment } from "../config/readers.ts";
import type { Config } from "../config.ts";
import type { Connection, Pool } from "../db/connect.ts";
import { readRunEnds } from "../db/read/recent-runs.ts";
import { readSnapshot } from "../db/transaction.ts";
import { toError } from "../errors.ts";
import type { RunEnd } from "../run-summary.ts";
import { basicOf } from "../secrets.ts";
import { openConnectionPool } from "../service/http/connection-pool.ts";
import type { Context } from "./context.ts";
import { notify } from "./notify.ts";

/** Sends a message when the state turns good or not good. What others sent follows from their runs, so nothing is stored. */
export function createWebhook(context: Context, config: Config, pool: Pool) {
  const { environment, stop, mask, version } = context;
  const { notifyUrl } = config;
  if (notifyUrl === null) return { readRuns: async () => {}, send: async () => {} };
  let newest = 0;
  // A good first run is no news.
  let last = { isGood: true, at: Number.NEGATIVE_INFINITY };
  const isNews = ({ status, isGood }: Pick<RunEnd, "status" | "isGood">, at: number) =>
    !SILENT.includes(status) && isGood !== last.isGood && at - last.at >= MIN_DISTANCE_MS;
  return {
    /** Reads the runs that ended since the last call, without an own one. @throws DatabaseError if they cannot be read */
    async readRuns(own?: number): Promise<void> {
      const read = (connection: Connection) => readRunEnds(connection, newest);
      for (const { id, ageMs, ...end } of await readSnapshot(pool, "reading the last runs", read, stop)) {
        const at = Date.now() - ageMs;
        if (id !== own && isNews(end, at)) last = { isGood: end.isGood, at };
        newest = id;
      }
    },
    /** After a run. Never throws. */
    async send(end: RunEnd): Promise<void> {
      const now = new Date();
      const at = now.getTime();
      if (!isNews(end, at)) return;
      const before = last;
      last = { isGood: end.isGood, at };
      try {
        await postMessage(notifyUrl, formatMessage(end, now, version), environment, stop);
      } catch (error) {
        // A later run of this process tries again. Another process would take the message for sent.
        last = { ...before, at };
        notify(context, config, "warn", "notification_failed", `SIMCAT_NOTIFY_URL: ${mask(toError(error).message)}`);
      }
    },
  };
}

/** Two messages are at least this far apart. */
const MIN_DISTANCE_MS = 15 * 60_000;

/** Ends that say nothing about the service or the copy, such as a stop. */
const SILENT: readonly RunEnd["status"][] = ["interrupted", "lost_lease", "running", "abandoned"];

/** The body of the post. `text` is a sentence that chat programs show. */
function formatMessage({ id, status, isGood, error }: RunEnd, now: Date, version: string) {
  const state = isGood ? "good" : "not good";
  const run = id === null ? "a run could not begin" : `run ${id} ended with ${status}`;
  const text = `simcat: the copy is ${state}: ${run}${error === null ? "" : `: ${error}`}`;
  return { text, good: isGood, run_id: id, status, error, sent_at: now.toISOString(), version };
}

const ATTEMPTS = 3;
const ATTEMPT_MS = 5_000;
const PAUSE_MS = 1_000;

/**
 * Posts a message as JSON. `X-Simcat-Signature` is `sha256=` and the hexadecimal HMAC of the body, whose key is the URL as it
 * is set: only the receiver knows it too. Its user and password are sent as Basic authorization. Tries three times, through the proxy
 * that `environment` names. When the signal is aborted, the current attempt is the last; during a pause, one more follows at once.
 * @throws Error without the URL if no attempt was answered with 2xx
 */
export async function postMessage(url: string, message: object, environment: Environment, signal: AbortSignal) {
  const body = JSON.stringify(message);
  const target = new URL(url);
  const headers = {
    "content-type": "application/json",
    ...(target.username + target.password !== "" && { authorization: `Basic ${basicOf(target)}` }),
    "x-simcat-signature": `sha256=${createHmac("sha256", url).update(body).digest("hex")}`,
  };
  const limits = { concurrency: ATTEMPTS, requestTimeoutMs: ATTEMPT_MS };
  const { dispatcher } = openConnectionPool({ baseUrl: target, environment, ...limits });
  const post = { method: "POST", headers, body, dispatcher } as const;
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await withTimeout(request(target, post), ATTEMPT_MS);
        if (answer === "timeout") throw new Error(`no answer within ${ATTEMPT_MS / 1_000} s`);
        const { statusCode, body: rest } = answer;
        // The status is the answer, however long its body takes.
        rest.on("error", () => {}).resume();
        if (statusCode >= 200 && statusCode < 300) return;
        throw new Error(`the answer was ${statusCode}`);
      } catch (error) {
        if (attempt === ATTEMPTS || signal.aborted) throw new Error(`not sent: ${toError(error).message}`);
        await sleep(attempt * PAUSE_MS, signal).catch(() => {});
      }
    }
  } finally {
    await dispatcher.destroy();
  }
}

import type { Config } from "../config.ts";
import type { Pool } from "../db/connect.ts";
import { readRunEnds } from "../db/read/recent-runs.ts";
import { isGood } from "../db/runs.ts";
import { readSnapshot } from "../db/transaction.ts";
import { toError } from "../errors.ts";
import type { RunSummary } from "../run-summary.ts";
import type { LastMessage, RunEnd } from "../webhook.ts";
import type { Context } from "./context.ts";
import { notify } from "./notify.ts";

/** Sends a message if the end of a run changes the state between good and not good. Never throws. */
export type SendMessage = (end: RunEnd) => Promise<void>;

/**
 * Without SIMCAT_NOTIFY_URL it sends nothing. What earlier processes sent follows from their runs, so nothing is stored.
 * @throws DatabaseError if the runs cannot be read
 */
export async function createSender(context: Context, config: Config, pool: Pool): Promise<SendMessage> {
  const { environment, stop, mask, version } = context;
  const { notifyUrl } = config;
  if (notifyUrl === null) return async () => {};
  const { formatMessage, nextMessage, postMessage } = await import("../webhook.ts");
  const ends = await readSnapshot(pool, "reading the last runs", readRunEnds, stop);
  // That the first run is good is no news.
  let last: LastMessage = { isGood: true, at: Number.NEGATIVE_INFINITY };
  for (const end of ends) last = nextMessage(last, end, Date.now() - end.ageMs);
  return async (end) => {
    const now = new Date();
    const before = last;
    last = nextMessage(before, end, now.getTime());
    if (last === before) return;
    try {
      const message = formatMessage({ ...end, error: end.error && mask(end.error) }, now, version);
      await postMessage(notifyUrl, message, environment, stop);
    } catch (error) {
      // A later run of this process tries again. Another process would take the message for sent.
      last = { ...before, at: now.getTime() };
      notify(context, config, "warn", "notification_failed", `SIMCAT_NOTIFY_URL: ${mask(toError(error).message)}`);
    }
  };
}

export function toRunEnd(summary: RunSummary): RunEnd {
  const { id, status, error } = summary;
  return { runId: id, status, isGood: isGood(summary), error };
}

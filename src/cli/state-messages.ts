import type { Config } from "../config.ts";
import type { Pool } from "../db/connect.ts";
import { readRunEnds } from "../db/read/recent-runs.ts";
import { isGood } from "../db/runs.ts";
import { readSnapshot } from "../db/transaction.ts";
import { toError } from "../errors.ts";
import type { RunSummary } from "../run-summary.ts";
import type { RunEnd, Told } from "../webhook.ts";
import type { Context } from "./context.ts";
import { notify } from "./notify.ts";

/** Tells people about the end of a run if it changes the state between good and not good. Never throws. */
export type Tell = (end: RunEnd) => Promise<void>;

/**
 * Without SIMCAT_NOTIFY_URL it tells nobody. What earlier processes told follows from their runs, so nothing is stored.
 * @throws DatabaseError if the runs cannot be read
 */
export async function createTell(context: Context, config: Config, pool: Pool): Promise<Tell> {
  const { stop, mask, version } = context;
  const { notifyUrl } = config;
  if (notifyUrl === null) return async () => {};
  const { postMessage, tellNext, toMessage } = await import("../webhook.ts");
  const ends = await readSnapshot(pool, "reading the last runs", readRunEnds, stop);
  // Nobody needs to be told that the first run is good.
  let told: Told = { isGood: true, at: Number.NEGATIVE_INFINITY };
  for (const end of ends) told = tellNext(told, end, Date.now() - end.ageMs);
  return async (end) => {
    const now = new Date();
    const [before, next] = [told, tellNext(told, end, now.getTime())];
    if (next === before) return;
    told = next;
    try {
      await postMessage(notifyUrl, toMessage({ ...end, error: end.error && mask(end.error) }, now, version), stop);
    } catch (error) {
      // The next change, or the next run in the same state, tries again.
      told = { ...before, at: now.getTime() };
      notify(context, config, "warn", "notification_failed", `SIMCAT_NOTIFY_URL: ${mask(toError(error).message)}`);
    }
  };
}

export function toRunEnd(summary: RunSummary): RunEnd {
  const { id, status, error } = summary;
  return { runId: id, status, isGood: isGood(summary), error };
}

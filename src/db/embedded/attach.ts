import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseError } from "../../errors.ts";
import type { Cluster } from "./cluster.ts";
import { ensureDatabase } from "./connect.ts";
import { hasCode } from "./has-code.ts";
import { poll } from "./poll.ts";
import { readPostmaster } from "./postmaster.ts";

const RECOVERY_LIMIT = 10 * 60_000;
const REFUSAL_LIMIT = 10_000;

/**
 * The port of the server that runs on a cluster already; null when none does. One that is starting is waited for,
 * one that is stopping too. To be called with a claim written, so that nobody stops it meanwhile.
 */
export async function attach(cluster: Cluster, password: string, signal: AbortSignal): Promise<number | null> {
  const start = performance.now();
  for (;;) {
    const port = await poll(() => steadyPort(cluster), RECOVERY_LIMIT, signal);
    if (port === null || port === "none") return null;
    try {
      await ensureDatabase(port, password);
      return port;
    } catch (error) {
      if (!hasCode(error, "ECONNREFUSED", "ECONNRESET", "57P03"))
        throw new DatabaseError(`the embedded Postgres on port ${port} does not let simcat in: ${error}`, {
          cause: error,
        });
      // On its way out. Or its id belongs to another Postgres by now, which ours will see for itself at its start.
      if (performance.now() - start > REFUSAL_LIMIT) return null;
      await sleep(50);
    }
  }
}

async function steadyPort(cluster: Cluster): Promise<number | "none" | null> {
  const running = await readPostmaster(cluster.data);
  if (running === null) return "none";
  return running.ready && !(await isClosing(cluster)) ? running.port : null;
}

/** The watchdog takes a moment between saying so and doing it; a mark older than that is a dead one's. */
async function isClosing(cluster: Cluster): Promise<boolean> {
  const mark = await stat(cluster.closing).catch(() => null);
  return mark !== null && Date.now() - mark.mtimeMs < 5_000;
}

import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import { readPostmaster } from "./postmaster.ts";

const LOOK_MS = 1_000;
const AGAIN_MS = 10_000;

/**
 * Revives the server of a cluster whenever it is gone: nobody else looks after it. What comes of that is told, a failure
 * once as long as it stays the same.
 * @returns ends the looking, and waits for what is under way
 */
export function keepUp(
  cluster: Cluster,
  revive: (signal: AbortSignal) => Promise<void>,
  tell: (text: string) => void,
): () => Promise<void> {
  const end = new AbortController();
  const { signal } = end;
  let told: string | null = null;
  const look = async (): Promise<number> => {
    try {
      if ((await readPostmaster(cluster.data)) !== null) return LOOK_MS;
      await revive(signal);
      told = null;
      tell("the embedded Postgres had ended, and was started anew");
      return LOOK_MS;
    } catch (error) {
      const text = `the embedded Postgres has ended, and cannot be started anew: ${error instanceof Error ? error.message : error}`;
      if (!signal.aborted && text !== told) tell(text);
      told = text;
      return AGAIN_MS;
    }
  };
  const keepLooking = async () => {
    for (let pause = LOOK_MS; !signal.aborted; pause = await look()) {
      await sleep(pause, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  const looking = keepLooking();
  return () => {
    end.abort();
    return looking;
  };
}

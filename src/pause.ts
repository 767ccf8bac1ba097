import { setTimeout as sleep } from "node:timers/promises";

/** Waits `ms` milliseconds; rejects at once with the signal's own reason when it is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

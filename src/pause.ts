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

/** The same promise, which rejects with the signal's own reason as soon as it is aborted. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    work.catch(() => {});
    signal.removeEventListener("abort", onAbort);
  }
}

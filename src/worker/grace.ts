import type { Logger } from "../log.ts";

/** Kubernetes kills after 30 s, and the server, the pool and the embedded database want a moment of it. */
const GRACE_MS = 22_000;

/**
 * The work's result; when it has not ended by so long after the signal, the signal's reason is thrown instead. What the
 * work has not written by then is what a killed process would not have written: the next run goes on from there.
 */
export async function withinGrace<T>(work: Promise<T>, log: Logger, signal: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let giveUp = () => {};
  const late = new Promise<never>((_, reject) => {
    giveUp = () => {
      log.error({ code: "drain_timeout", after_ms: GRACE_MS }, "the run did not end in time and is left behind");
      // Nobody is left to hear how it ends.
      work.catch(() => {});
      reject(signal.reason);
    };
  });
  const startTimer = () => {
    timer = setTimeout(giveUp, GRACE_MS);
  };
  if (signal.aborted) startTimer();
  else signal.addEventListener("abort", startTimer, { once: true });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", startTimer);
  }
}

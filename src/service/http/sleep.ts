import type { StopSignal } from "./life.ts";

/** A timer that is set for longer goes off at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** Resolves after so many milliseconds; rejects with the signal's reason as soon as it is aborted. */
export function sleep(ms: number, signal: StopSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = setTimeout(() => end(resolve), Math.min(Math.ceil(ms), LONGEST_TIMER));
    const onAbort = () => end(() => reject(signal.reason));
    signal.addEventListener("abort", onAbort);
    function end(settle: () => void): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      settle();
    }
  });
}

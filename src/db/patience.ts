import { sleep } from "../async.ts";
import { isConnectionLost, isContention, isLockTimeout } from "./failures.ts";

/** How long a server that is away is waited for, in milliseconds: long enough for a restart. */
const PATIENCE_MS = 30_000;
const CONTENTION_ATTEMPTS = 5;
/** How long a wait lasts before it is announced, in milliseconds. */
export const ANNOUNCE_AFTER_MS = 1_000;

export interface Patience {
  /** How long a server that is away is waited for, in milliseconds. With 0 a lost connection is the end. */
  readonly patienceMs?: number;
  /** How many attempts end with a lock that was not granted in time. */
  readonly lockAttempts?: number;
  /** Called once, when attempts have been failing for a second, with what the last one threw. */
  readonly onWait?: (error: unknown) => void;
}

/**
 * Makes the attempt again after a deadlock, a serialization failure, a lock that did not come or a lost connection, bounded.
 * @throws what the last attempt threw, or the signal's reason
 */
export async function persist<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal,
  { patienceMs = PATIENCE_MS, lockAttempts = CONTENTION_ATTEMPTS, onWait }: Patience = {},
): Promise<T> {
  const beganAt = performance.now();
  let contended = 0;
  let announcing: NodeJS.Timeout | undefined;
  let last: unknown;
  try {
    for (let attempts = 1; ; attempts++) {
      signal.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        // Twice at the least: to a machine that slept in between, all its patience seems to have passed in one attempt.
        const mayHeal = isContention(error)
          ? ++contended < (isLockTimeout(error) ? lockAttempts : CONTENTION_ATTEMPTS)
          : isConnectionLost(error) && (performance.now() - beganAt < patienceMs || (attempts === 1 && patienceMs > 0));
        if (!mayHeal) throw error;
        last = error;
        announcing ??= setTimeout(() => onWait?.(last), beganAt + ANNOUNCE_AFTER_MS - performance.now());
      }
      await sleep(Math.random() * Math.min(2_000, 50 * 2 ** attempts), signal);
    }
  } finally {
    clearTimeout(announcing);
  }
}

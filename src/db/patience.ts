import { pause } from "../pause.ts";
import { isConnectionLost, isContention, isLockTimeout } from "./failures.ts";

/** How long a server that is away is waited for, in milliseconds: long enough for a restart. */
const PATIENCE_MS = 30_000;
const CONTENTION_ATTEMPTS = 5;

export interface Patience {
  /** How long to try again while the server is away, in milliseconds. */
  readonly patienceMs?: number;
  /** How many attempts end with a lock that was not given in time. */
  readonly lockAttempts?: number;
}

/**
 * Makes the attempt again after a deadlock, a serialization failure, a lock that did not come or a lost connection, bounded.
 * Without patience a lost connection is the end.
 * @throws what the last attempt threw, or the signal's reason
 */
export async function persist<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal,
  { patienceMs = PATIENCE_MS, lockAttempts = CONTENTION_ATTEMPTS }: Patience = {},
): Promise<T> {
  const giveUpAt = performance.now() + patienceMs;
  let contended = 0;
  for (let attempts = 1; ; attempts++) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      // Twice at the least: to a machine that slept in between, all its patience seems to have passed in one attempt.
      const mayHeal = isContention(error)
        ? ++contended < (isLockTimeout(error) ? lockAttempts : CONTENTION_ATTEMPTS)
        : isConnectionLost(error) && (performance.now() < giveUpAt || (attempts === 1 && patienceMs > 0));
      if (!mayHeal) throw error;
    }
    await pause(Math.random() * Math.min(2_000, 50 * 2 ** attempts), signal);
  }
}

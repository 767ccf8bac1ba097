import { sleep } from "../async.ts";
import { isConnectionLost, isContention, isLockTimeout } from "./db-errors.ts";

/** In milliseconds: long enough for a server to restart. */
const RETRY_FOR_MS = 30_000;
const CONTENTION_ATTEMPTS = 5;
const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 2_000;
/** A shorter wait is not announced, in milliseconds. */
export const ANNOUNCE_AFTER_MS = 1_000;

export interface RetryOptions {
  /** How long to retry while the server cannot be reached, in milliseconds. With 0, a lost connection is final. */
  readonly retryForMs?: number;
  /** How many attempts may end with a lock timeout. */
  readonly lockAttempts?: number;
  /** Called at most once, after a second without success, with the last attempt's error. */
  readonly onWait?: (error: unknown) => void;
  /** Call `onWait` also when the first attempt has not ended after a second; the error is undefined then. */
  readonly announceFirstAttempt?: boolean;
}

/**
 * Retries `attempt` after a deadlock, a serialization failure, a lock timeout or a lost connection: with full jitter, a
 * bounded number of times.
 * @throws the last attempt's error, or the signal's reason
 */
export async function retryTransient<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal,
  {
    retryForMs = RETRY_FOR_MS,
    lockAttempts = CONTENTION_ATTEMPTS,
    onWait,
    announceFirstAttempt = false,
  }: RetryOptions = {},
): Promise<T> {
  const beganAt = performance.now();
  let contended = 0;
  let lastError: unknown;
  let announcing: NodeJS.Timeout | undefined;
  const announceLater = () => {
    announcing ??= setTimeout(() => onWait?.(lastError), beganAt + ANNOUNCE_AFTER_MS - performance.now());
  };
  const mayRetry = (error: unknown, attempts: number): boolean => {
    if (isContention(error)) return ++contended < (isLockTimeout(error) ? lockAttempts : CONTENTION_ATTEMPTS);
    // Always at least two attempts: if the machine sleeps during the first, all the time seems to have passed in it.
    const hasTime = performance.now() - beganAt < retryForMs || (attempts === 1 && retryForMs > 0);
    return isConnectionLost(error) && hasTime;
  };
  if (announceFirstAttempt) announceLater();
  try {
    for (let attempts = 1; ; attempts++) {
      signal.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        if (!mayRetry(error, attempts)) throw error;
        lastError = error;
        announceLater();
      }
      await sleep(Math.random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempts), signal);
    }
  } finally {
    clearTimeout(announcing);
  }
}

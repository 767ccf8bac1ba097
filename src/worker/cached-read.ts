import { withTimeout } from "../async.ts";
import { toError } from "../errors.ts";

/** The last value that was read, and the error of the last read if it failed. */
interface Cached<T> {
  /** Null before the first successful read. */
  readonly value: T | null;
  readonly error: Error | null;
}

/**
 * Caches `read`. The returned function reads again if the cached value is older than `maxAgeMs`. Concurrent callers share
 * one read, and each waits at most `timeoutMs` for it. A read that fails or takes longer leaves the last value.
 */
export function cacheWithTtl<T>(read: () => Promise<T>, timeoutMs: number): (maxAgeMs: number) => Promise<Cached<T>> {
  let cached: Cached<T> = { value: null, error: null };
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;
  const refresh = async () => {
    try {
      cached = { value: await read(), error: null };
    } catch (thrown) {
      cached = { ...cached, error: toError(thrown) };
    } finally {
      readAt = performance.now();
      reading = null;
    }
  };
  return async (maxAgeMs) => {
    if (performance.now() - readAt <= maxAgeMs) return cached;
    reading ??= refresh();
    if ((await withTimeout(reading, timeoutMs)) !== "timeout") return cached;
    return { ...cached, error: new Error(`no answer within ${timeoutMs / 1000} s`) };
  };
}

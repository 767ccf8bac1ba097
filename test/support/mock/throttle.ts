import { type HttpAnswer, httpError } from "./answer.ts";
import type { ThrottleAction } from "./faults.ts";

/**
 * Returns a function that refuses a request with an answer, or returns null if the request may pass. Each throttle of a script
 * has a token bucket, which is full at first and holds the requests of a tenth of a second.
 */
export function createThrottle(): (action: ThrottleAction) => HttpAnswer | null {
  const buckets = new Map<ThrottleAction, { tokens: number; filledAt: number }>();
  return (action) => {
    const { perSecond } = action;
    const capacity = Math.max(1, perSecond / 10);
    const now = performance.now();
    const bucket = buckets.get(action) ?? { tokens: capacity, filledAt: now };
    buckets.set(action, bucket);
    bucket.tokens = Math.min(capacity, bucket.tokens + ((now - bucket.filledAt) * perSecond) / 1_000);
    bucket.filledAt = now;
    if (bucket.tokens < 1) return httpError(429, "Slow down");
    bucket.tokens -= 1;
    return null;
  };
}

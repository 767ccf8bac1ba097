import { type HttpAnswer, httpError, withHeader } from "./answer.ts";
import type { ThrottleAction } from "./faults.ts";

/** Returns the answer that refuses a request, or null if the request may pass. */
type Throttle = (action: ThrottleAction, inFlight: number) => HttpAnswer | null;

/** Each throttle of a script has a token bucket, which is full at first and holds the requests of a tenth of a second. */
export function createThrottle(): Throttle {
  const buckets = new Map<ThrottleAction, { tokens: number; filledAt: number }>();
  function take(action: ThrottleAction, perSecond: number): boolean {
    const capacity = Math.max(1, perSecond / 10);
    const now = performance.now();
    const bucket = buckets.get(action) ?? { tokens: capacity, filledAt: now };
    buckets.set(action, bucket);
    bucket.tokens = Math.min(capacity, bucket.tokens + ((now - bucket.filledAt) * perSecond) / 1_000);
    bucket.filledAt = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
  return (action, inFlight) => {
    const tooMany = action.inFlight !== undefined && inFlight > action.inFlight;
    const tooFast = action.perSecond !== undefined && !take(action, action.perSecond);
    if (!tooMany && !tooFast) return null;
    const refusal = httpError(action.status ?? 429, "Slow down");
    return action.retryAfter === undefined ? refusal : withHeader(refusal, "retry-after", action.retryAfter);
  };
}

import { type Answer, errorAnswer, withHeader } from "./answer.ts";
import type { ThrottleAction } from "./faults.ts";

/** Null when the request may pass; the state of each throttle starts full. */
export type Throttle = (action: ThrottleAction, inFlight: number) => Answer | null;

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** A token bucket of one tenth of a second's requests for each throttle of a script. */
export function createThrottle(now: () => number = () => performance.now()): Throttle {
  const buckets = new Map<ThrottleAction, Bucket>();
  function take(action: ThrottleAction, perSecond: number): boolean {
    const most = Math.max(1, perSecond / 10);
    const bucket = buckets.get(action) ?? { tokens: most, filledAt: now() };
    buckets.set(action, bucket);
    const at = now();
    bucket.tokens = Math.min(most, bucket.tokens + ((at - bucket.filledAt) * perSecond) / 1_000);
    bucket.filledAt = at;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
  return (action, inFlight) => {
    const tooMany = action.inFlight !== undefined && inFlight > action.inFlight;
    const tooFast = action.perSecond !== undefined && !take(action, action.perSecond);
    if (!tooMany && !tooFast) return null;
    const refusal = errorAnswer(action.status ?? 429, "Slow down");
    return action.retryAfter === undefined ? refusal : withHeader(refusal, "retry-after", action.retryAfter);
  };
}

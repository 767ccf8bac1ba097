/**
 * Two limits that adapt to the service by AIMD (additive increase, multiplicative decrease): how many requests are in
 * flight, and how far apart they start.
 */

interface AdaptiveConcurrency {
  /** How many requests may be in flight. */
  limit(): number;
  /** Slow start adds one per success; above the threshold, one per full window. */
  onSuccess(): void;
  /** Takes a quarter away, at most once in `cutEveryMs`. */
  onThrottled(now: number): void;
  /** After a pause all queued requests would start at once: return to slow start. */
  slowStart(): void;
}

const INITIAL_CONCURRENCY = 4;

export function createAdaptiveConcurrency(concurrency: number, cutEveryMs: number): AdaptiveConcurrency {
  let limit = Math.min(INITIAL_CONCURRENCY, concurrency);
  let threshold = concurrency;
  let successes = 0;
  let lastCut = Number.NEGATIVE_INFINITY;
  return {
    limit: () => limit,
    onSuccess() {
      if (limit >= concurrency) return;
      successes++;
      if (limit >= threshold && successes < limit) return;
      successes = 0;
      limit++;
    },
    onThrottled(now) {
      if (now - lastCut < cutEveryMs) return;
      lastCut = now;
      limit = Math.max(1, Math.floor(limit * 0.75));
      threshold = limit;
      successes = 0;
    },
    slowStart() {
      limit = Math.min(INITIAL_CONCURRENCY, limit);
    },
  };
}

/**
 * Spaces the starts of requests. There is no spacing until the service throttles (429, 503). After that a throttled
 * request cuts the rate and each success raises it a little. In balance, about one request in twenty is throttled.
 * Times are of `performance.now()`.
 */
export interface Pacer {
  /** Milliseconds between the starts of two requests; 0 for no limit. */
  spacing(): number;
  onSuccess(sentAt: number, now: number): void;
  onThrottled(sentAt: number, now: number, status: number): void;
  /** Forgets the measured rate, because no request starts during a pause. */
  onPause(): void;
}

/** The rate is measured over this number of successes, and over at least this time. */
const WINDOW_SUCCESSES = 16;
const MIN_WINDOW_MS = 50;
/** A throttled request multiplies the rate by this. */
const RATE_CUT = 0.85;
/** A success raises the rate by this share, and by more after many successes in a row, when the limit may have risen. */
const RATE_GROWTH = 0.008;
const LONG_STREAK = 12;
/** An unused rate is unproven: it is kept below this multiple of the measured one. */
const MAX_UNUSED = 1.2;
/** While every request is throttled, the rate is halved, and the slow-start threshold is multiplied by this. */
const THRESHOLD_CUT = 0.8;
/**
 * Lowest rates, in requests per second. After a 429 a quota may be used up for minutes. A 503 may be an outage, whose end
 * must be noticed soon.
 */
const MIN_RATE_AFTER_429 = 0.1;
const MIN_RATE_AFTER_503 = 5;

/** `maxRps` is SIMCAT_MAX_RPS. */
export function createPacer(maxRps: number | null): Pacer {
  const minSpacing = maxRps === null ? 0 : 1000 / maxRps;
  /** When the latest requests succeeded. */
  const successes: number[] = [];
  /** Requests per second. */
  let rate = Number.POSITIVE_INFINITY;
  /** Slow start: below this, the rate doubles. */
  let threshold = Number.POSITIVE_INFINITY;
  /** Responses to requests that were sent before the last change say nothing about the rate after it. */
  let changedAt = Number.NEGATIVE_INFINITY;
  let cutsInARow = 0;
  let streak = 0;

  function measuredRate(): number {
    const [first] = successes;
    const last = successes.at(-1);
    if (first === undefined || last === undefined || first === last) return Number.POSITIVE_INFINITY;
    return ((successes.length - 1) * 1000) / Math.max(MIN_WINDOW_MS, last - first);
  }

  function changeRate(to: number, now: number): void {
    rate = to;
    changedAt = now;
  }

  return {
    spacing: () => Math.max(minSpacing, 1000 / rate),
    onSuccess(sentAt, now) {
      successes.push(now);
      if (successes.length > WINDOW_SUCCESSES) successes.shift();
      if (rate === Number.POSITIVE_INFINITY) return;
      cutsInARow = 0;
      if (rate < threshold) {
        if (sentAt >= changedAt) changeRate(Math.min(threshold, rate * 2), now);
        return;
      }
      streak++;
      rate *= 1 + RATE_GROWTH * Math.max(1, streak / LONG_STREAK);
    },
    onThrottled(sentAt, now, status) {
      if (sentAt < changedAt) return;
      if (rate === Number.POSITIVE_INFINITY) {
        changeRate(measuredRate(), now);
        return;
      }
      streak = 0;
      cutsInARow++;
      if (cutsInARow === 1) {
        changeRate(Math.min(MAX_UNUSED * measuredRate(), rate < threshold ? rate / 2 : rate * RATE_CUT), now);
        threshold = rate;
        return;
      }
      const minRate = Math.min(rate, status === 429 ? MIN_RATE_AFTER_429 : MIN_RATE_AFTER_503);
      changeRate(Math.max(minRate, rate / 2), now);
      threshold = threshold === Number.POSITIVE_INFINITY ? rate : Math.max(rate, threshold * THRESHOLD_CUT);
    },
    onPause() {
      successes.length = 0;
    },
  };
}

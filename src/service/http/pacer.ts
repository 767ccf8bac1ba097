/**
 * How far apart requests start. Nothing is paced until the service throttles (429, 503). Then AIMD finds the rate that it
 * takes: a throttled request cuts the rate, each success raises it a little. Where the two balance, about one request in
 * twenty is throttled.
 */
export interface Pacer {
  /** Milliseconds between the starts of two requests; 0 for no limit. */
  spacing(): number;
  /** `sentAt` and `now` are moments of `performance.now()`. */
  succeeded(sentAt: number, now: number): void;
  throttled(sentAt: number, now: number, status: number): void;
  /** No request leaves for a while: the successes before and after do not make a rate. */
  paused(): void;
}

/** Successes from which the present rate is measured. */
const WINDOW = 16;
/** A rate is not measured over less time, in milliseconds. */
const SHORTEST_WINDOW_MS = 50;
/** A throttled request leaves this part of the rate. */
const CUT = 0.85;
/** Each success raises the rate by this part, and by more after many successes in a row: the limit may have been raised. */
const GROWTH = 0.008;
const LONG_STREAK = 12;
/** A rate that is not used is no knowledge: it is kept below this multiple of the measured one. */
const MOST_UNUSED = 1.2;
/** While every request is throttled the rate is halved, and the rate to return to shrinks to this part. */
const THRESHOLD_CUT = 0.8;
/** Requests per second at the least: after a 429 a quota may be used up for minutes; a 503 may be an outage, which must be noticed soon. */
const LEAST_AFTER_429 = 0.1;
const LEAST_AFTER_503 = 5;

export function openPacer(maxRps: number | null): Pacer {
  const leastSpacing = maxRps === null ? 0 : 1000 / maxRps;
  const successes: number[] = [];
  /** Requests per second. */
  let rate = Number.POSITIVE_INFINITY;
  /** Slow start: below this, the rate doubles. */
  let threshold = Number.POSITIVE_INFINITY;
  /** Answers to requests that were sent before the last change say nothing of the rate since. */
  let changedAt = Number.NEGATIVE_INFINITY;
  let cutsInARow = 0;
  let streak = 0;

  function measured(): number {
    const [first] = successes;
    const last = successes.at(-1);
    if (first === undefined || last === undefined || first === last) return Number.POSITIVE_INFINITY;
    return ((successes.length - 1) * 1000) / Math.max(SHORTEST_WINDOW_MS, last - first);
  }

  function change(to: number, now: number): void {
    rate = to;
    changedAt = now;
  }

  return {
    spacing: () => Math.max(leastSpacing, 1000 / rate),
    succeeded(sentAt, now) {
      successes.push(now);
      if (successes.length > WINDOW) successes.shift();
      if (rate === Number.POSITIVE_INFINITY) return;
      cutsInARow = 0;
      if (rate < threshold) {
        if (sentAt >= changedAt) change(Math.min(threshold, rate * 2), now);
        return;
      }
      streak++;
      rate *= 1 + GROWTH * Math.max(1, streak / LONG_STREAK);
    },
    throttled(sentAt, now, status) {
      if (sentAt < changedAt) return;
      const isFirst = rate === Number.POSITIVE_INFINITY;
      if (isFirst) {
        change(measured(), now);
        return;
      }
      streak = 0;
      cutsInARow++;
      if (cutsInARow === 1) {
        change(Math.min(MOST_UNUSED * measured(), rate < threshold ? rate / 2 : rate * CUT), now);
        threshold = rate;
        return;
      }
      const least = Math.min(rate, status === 429 ? LEAST_AFTER_429 : LEAST_AFTER_503);
      change(Math.max(least, rate / 2), now);
      threshold = threshold === Number.POSITIVE_INFINITY ? rate : Math.max(rate, threshold * THRESHOLD_CUT);
    },
    paused() {
      successes.length = 0;
    },
  };
}

import { type StopSignal, sleep, startTimer } from "../../async.ts";
import { isThrottled, type ResponseHead } from "./attempt-failure.ts";
import type { HttpOptions, Operation } from "./http-options.ts";

/** The target of a GET. */
export interface RequestTarget {
  readonly operation: Operation;
  readonly path: string;
  /** The listing, or a library: its metadata and its scenarios are one resource. */
  readonly resource: string;
  /** The resource failed last time, so the waits that it asks for say nothing about the service. */
  readonly failedBefore?: boolean;
  /**
   * The request was answered before, and has waited for as long as that answer asked. A later pause of its resource does not delay
   * it. Otherwise two requests for a broken library would also wait for each other's pauses.
   */
  readonly hasWaited?: boolean;
}

type PausedTarget = Pick<RequestTarget, "resource" | "hasWaited">;

/** Two resources that ask for a pause within this time mean the service, not one library. */
const PAUSE_WINDOW_MS = 30_000;

/** Decides when requests may be sent: in order, a limited number at once, evenly spaced, and none during a pause. */
export function createLimiter(options: Pick<HttpOptions, "concurrency" | "maxRps" | "onEvent">) {
  const { concurrency, maxRps, onEvent } = options;
  const adaptive = createAdaptiveConcurrency(concurrency);
  const pacer = createPacer(maxRps);
  const queue = new Set<() => void>();
  const resourcePauses = new Map<string, { readonly askedAt: number; readonly until: number }>();
  let inFlight = 0;
  let pausedUntil = 0;
  let lastStart = Number.NEGATIVE_INFINITY;
  let cancelTimer = () => {};
  let successes = 0;
  let throttledSince: number | null = null;

  function admit(): void {
    cancelTimer();
    while (inFlight < adaptive.limit()) {
      const [next] = queue;
      if (next === undefined) return;
      const now = performance.now();
      const opensAt = Math.max(pausedUntil, lastStart + pacer.spacing());
      if (opensAt > now) {
        if (opensAt > pausedUntil) onEvent?.({ kind: "paced", delayMs: opensAt - now });
        // Timers have whole milliseconds and may fire early: wait for the last fraction in turns of the event loop.
        if (opensAt - now >= 1) {
          const timer = startTimer(admit, Math.floor(opensAt - now));
          cancelTimer = () => clearTimeout(timer);
        } else {
          const immediate = setImmediate(admit);
          cancelTimer = () => clearImmediate(immediate);
        }
        return;
      }
      queue.delete(next);
      inFlight++;
      lastStart = now;
      next();
    }
  }

  const resourcePauseMs = ({ resource, hasWaited = false }: PausedTarget) =>
    hasWaited ? 0 : (resourcePauses.get(resource)?.until ?? 0) - performance.now();

  /** Pauses one resource. Returns true if another one asked for a pause shortly before, and neither of them failed last time. */
  function pauseResource({ resource, failedBefore = false }: RequestTarget, waitMs: number, now: number): boolean {
    const isRecent = (askedAt: number) => now - askedAt <= PAUSE_WINDOW_MS;
    for (const [name, { askedAt, until }] of resourcePauses) {
      if (!isRecent(askedAt) && now >= until) resourcePauses.delete(name);
    }
    const others = [...resourcePauses].filter(([name, { askedAt }]) => name !== resource && isRecent(askedAt));
    resourcePauses.set(resource, { askedAt: failedBefore ? Number.NEGATIVE_INFINITY : now, until: now + waitMs });
    return !failedBefore && others.length > 0;
  }

  return {
    /**
     * Resolves when this request may be sent; `release` must follow. A paused resource waits outside of the
     * queue. Rejects with the signal's reason.
     */
    async acquire(target: PausedTarget, signal: StopSignal): Promise<void> {
      for (let ms = resourcePauseMs(target); ms > 0; ms = resourcePauseMs(target)) await sleep(ms, signal);
      signal.throwIfAborted();
      return new Promise((resolve, reject) => {
        const onAbort = () => {
          queue.delete(start);
          reject(signal.reason);
        };
        const start = () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        };
        signal.addEventListener("abort", onAbort);
        queue.add(start);
        admit();
      });
    },
    release(): void {
      inFlight--;
      admit();
    },
    /** True during a pause of all requests or of this one's resource. */
    isPaused: (target: PausedTarget) => performance.now() < pausedUntil || resourcePauseMs(target) > 0,
    onSuccess(sentAt: number): void {
      successes++;
      throttledSince = null;
      adaptive.onSuccess();
      pacer.onSuccess(sentAt, performance.now());
    },
    /**
     * Adapts the limits to a response by which the service asked for a wait, and starts its pause. `waitMs` is the Retry-After;
     * null if there is none that simcat will wait for. Returns true if all requests pause.
     */
    onThrottled(target: RequestTarget, head: Pick<ResponseHead, "status" | "sentAt">, waitMs: number | null): boolean {
      const { status, sentAt } = head;
      const now = performance.now();
      throttledSince ??= now;
      const othersAsked = waitMs !== null && pauseResource(target, waitMs, now);
      const isResourceOnly = waitMs !== null && !othersAsked && status !== 429 && target.operation !== "listing";
      if (isThrottled(status)) {
        adaptive.onThrottled(now);
        if (!isResourceOnly) pacer.onThrottled(sentAt, now, status);
      }
      if (waitMs === null || isResourceOnly) return false;
      // A shorter pause does not shorten a longer one.
      if (now + waitMs <= pausedUntil) return true;
      pausedUntil = now + waitMs;
      adaptive.slowStart();
      pacer.onPause();
      return true;
    },
    /** Number of successful requests since the limiter was created. */
    successes: () => successes,
    /** Since when the service asks for waits without a success; null if it does not. */
    throttledSince: () => throttledSince,
    /** Stops the timer, so that nothing keeps the process alive. */
    close: () => cancelTimer(),
  };
}

const INITIAL_CONCURRENCY = 4;
/** Throttling cuts the concurrency at most once in this time. */
const CUT_EVERY_MS = 500;

/** Adapts how many requests may be in flight by AIMD (additive increase, multiplicative decrease). */
export function createAdaptiveConcurrency(concurrency: number) {
  let limit = Math.min(INITIAL_CONCURRENCY, concurrency);
  let threshold = concurrency;
  let successes = 0;
  let lastCut = Number.NEGATIVE_INFINITY;
  return {
    limit: () => limit,
    /** Slow start adds one per success; above the threshold, one per full window. */
    onSuccess() {
      if (limit >= concurrency) return;
      successes++;
      if (limit >= threshold && successes < limit) return;
      successes = 0;
      limit++;
    },
    /** Takes a quarter away. */
    onThrottled(now: number) {
      if (now - lastCut < CUT_EVERY_MS) return;
      lastCut = now;
      limit = Math.max(1, Math.floor(limit * 0.75));
      threshold = limit;
      successes = 0;
    },
    /** After a pause all queued requests would start at once. */
    slowStart() {
      limit = Math.min(INITIAL_CONCURRENCY, limit);
    },
  };
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

/**
 * Spaces the starts of requests by AIMD. There is no spacing until the service throttles (429, 503). After that a throttled
 * request cuts the rate and each success raises it a little. In balance, about one request in twenty is throttled.
 * Times are of `performance.now()`. `maxRps` is SIMCAT_MAX_RPS.
 */
export function createPacer(maxRps: number | null) {
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
    /** Milliseconds between the starts of two requests; 0 for no limit. */
    spacing: () => Math.max(minSpacing, 1000 / rate),
    onSuccess(sentAt: number, now: number): void {
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
    onThrottled(sentAt: number, now: number, status: number): void {
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
    /** Forgets the measured rate, because no request starts during a pause. */
    onPause(): void {
      successes.length = 0;
    },
  };
}

import type { StopSignal } from "../../async.ts";
import { MAX_TIMER_MS, sleep } from "../../async.ts";
import { createAdaptiveConcurrency, createPacer } from "./adaptive-limits.ts";
import { isThrottled } from "./retry-policy.ts";

interface LimiterOptions {
  /** The most requests in flight. */
  readonly concurrency: number;
  /** The most requests per second; null for no limit. */
  readonly maxRps: number | null;
  /** Throttling cuts the concurrency at most once in this time. */
  readonly cutEveryMs: number;
}

/** A response by which the service asked for a wait. */
interface Throttling {
  readonly status: number;
  /** When its request was sent, by `performance.now()`. */
  readonly sentAt: number;
  readonly resource: string;
  readonly isListing: boolean;
  /** The Retry-After; null if there is none that simcat will wait for. */
  readonly waitMs: number | null;
}

/** Decides when requests may be sent: in order, a limited number at once, evenly spaced, and none during a pause. */
export interface Limiter {
  /**
   * Resolves when a request for this resource may be sent; `release` must follow. A paused resource waits outside of the
   * queue. Rejects with the signal's reason.
   */
  acquire(resource: string, signal: StopSignal): Promise<void>;
  release(): void;
  /** True during a pause of all requests or of this resource. */
  isPaused(resource: string): boolean;
  onSuccess(sentAt: number): void;
  /** Adapts the limits and starts the pause that the service asked for. Returns true if it pauses all requests. */
  onThrottled(throttling: Throttling): boolean;
  /** Number of successful requests since the limiter was created. */
  successes(): number;
  /** Since when the service asks for waits without a success; null if it does not. */
  throttledSince(): number | null;
  /** Stops the timer, so that nothing keeps the process alive. */
  close(): void;
}

/** Two resources that ask for a pause within this time mean the service, not one library. */
const PAUSE_WINDOW_MS = 30_000;

export function createLimiter({ concurrency, maxRps, cutEveryMs }: LimiterOptions): Limiter {
  const adaptive = createAdaptiveConcurrency(concurrency, cutEveryMs);
  const pacer = createPacer(maxRps);
  const queue = new Set<() => void>();
  const resourcePauses = new Map<string, { readonly askedAt: number; readonly until: number }>();
  let inFlight = 0;
  let pausedUntil = 0;
  let lastStart = Number.NEGATIVE_INFINITY;
  let cancelTimer = () => {};
  let successes = 0;
  let throttledSince: number | null = null;

  /** Timers have whole milliseconds and may fire early: wait for the last fraction in turns of the event loop. */
  function admitAfter(ms: number): void {
    if (ms >= 1) {
      const timer = setTimeout(admit, Math.min(Math.floor(ms), MAX_TIMER_MS));
      cancelTimer = () => clearTimeout(timer);
    } else {
      const immediate = setImmediate(admit);
      cancelTimer = () => clearImmediate(immediate);
    }
  }

  function admit(): void {
    cancelTimer();
    while (inFlight < adaptive.limit()) {
      const [next] = queue;
      if (next === undefined) return;
      const now = performance.now();
      const opensAt = Math.max(pausedUntil, lastStart + pacer.spacing());
      if (opensAt > now) {
        admitAfter(opensAt - now);
        return;
      }
      queue.delete(next);
      inFlight++;
      lastStart = now;
      next();
    }
  }

  function enqueue(signal: StopSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
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
  }

  const resourcePauseMs = (resource: string) => (resourcePauses.get(resource)?.until ?? 0) - performance.now();

  async function waitAndEnqueue(resource: string, signal: StopSignal): Promise<void> {
    for (let ms = resourcePauseMs(resource); ms > 0; ms = resourcePauseMs(resource)) await sleep(ms, signal);
    return enqueue(signal);
  }

  /** Pauses one resource. Returns true if another one asked for a pause shortly before. */
  function pauseResource(resource: string, waitMs: number, now: number): boolean {
    const isRecent = (askedAt: number) => now - askedAt <= PAUSE_WINDOW_MS;
    for (const [name, { askedAt, until }] of resourcePauses) {
      if (!isRecent(askedAt) && now >= until) resourcePauses.delete(name);
    }
    const othersAsked = [...resourcePauses].some(([name, { askedAt }]) => name !== resource && isRecent(askedAt));
    resourcePauses.set(resource, { askedAt: now, until: now + waitMs });
    return othersAsked;
  }

  /** A shorter pause does not shorten a longer one. */
  function pauseAll(until: number): void {
    if (until <= pausedUntil) return;
    pausedUntil = until;
    adaptive.slowStart();
    pacer.onPause();
  }

  return {
    acquire: (resource, signal) => (resourcePauseMs(resource) > 0 ? waitAndEnqueue(resource, signal) : enqueue(signal)),
    release() {
      inFlight--;
      admit();
    },
    isPaused: (resource) => performance.now() < pausedUntil || resourcePauseMs(resource) > 0,
    onSuccess(sentAt) {
      successes++;
      throttledSince = null;
      adaptive.onSuccess();
      pacer.onSuccess(sentAt, performance.now());
    },
    onThrottled({ status, sentAt, resource, isListing, waitMs }) {
      const now = performance.now();
      throttledSince ??= now;
      const othersAsked = waitMs !== null && pauseResource(resource, waitMs, now);
      const isResourceOnly = waitMs !== null && !othersAsked && status !== 429 && !isListing;
      if (isThrottled(status)) {
        adaptive.onThrottled(now);
        if (!isResourceOnly) pacer.onThrottled(sentAt, now, status);
      }
      if (waitMs === null || isResourceOnly) return false;
      pauseAll(now + waitMs);
      return true;
    },
    successes: () => successes,
    throttledSince: () => throttledSince,
    close: () => cancelTimer(),
  };
}

import { describe, expect, it } from "vitest";
import type { ServiceEvent } from "../../src/service/http/http-options.ts";
import {
  createAdaptiveConcurrency,
  createLimiter,
  createPacer,
  type RequestTarget,
} from "../../src/service/http/limiter.ts";
import { failureOf, never } from "./service-under-test.ts";

const open = (concurrency: number, maxRps: number | null = null) => createLimiter({ concurrency, maxRps });
const LISTING: RequestTarget = { operation: "listing", path: "libs", resource: "libs" };
const scenariosOf = (resource: string): RequestTarget => ({ operation: "scenarios", path: resource, resource });

describe("the limiter", () => {
  it("admits requests up to the limit, and queues the others in order", async () => {
    const limiter = open(2);
    const entered: string[] = [];
    const enter = (name: string) => limiter.acquire({ resource: "libs" }, never).then(() => entered.push(name));
    const all = ["a", "b", "c", "d"].map(enter);
    await all[1];
    expect(entered).toEqual(["a", "b"]);
    limiter.release();
    await all[2];
    expect(entered).toEqual(["a", "b", "c"]);
    limiter.release();
    await all[3];
    expect(entered).toEqual(["a", "b", "c", "d"]);
  });

  it("an aborted signal ends the wait at once and frees the place in the queue", async () => {
    const limiter = open(1);
    await limiter.acquire({ resource: "libs" }, never);
    const impatient = new AbortController();
    const gone = failureOf(limiter.acquire({ resource: "libs" }, impatient.signal));
    const next = limiter.acquire({ resource: "libs" }, never);
    const reason = new Error("enough");
    impatient.abort(reason);
    expect(await gone).toBe(reason);
    limiter.release();
    await next;
    expect(await failureOf(limiter.acquire({ resource: "libs" }, impatient.signal))).toBe(reason);
  });

  it("says for how long the rate of requests holds the next one (fault 354)", async () => {
    const waits: number[] = [];
    const onEvent = (event: ServiceEvent) => event.kind === "paced" && waits.push(event.delayMs);
    const limiter = createLimiter({ concurrency: 2, maxRps: 0.5, onEvent });
    await limiter.acquire({ resource: "libs" }, never);
    limiter.release();
    expect(waits).toEqual([]);
    const stop = new AbortController();
    const held = failureOf(limiter.acquire({ resource: "libs" }, stop.signal));
    expect(waits).toEqual([expect.closeTo(2_000, -2)]);
    // The Retry-After of a response is the longer wait.
    limiter.onThrottled(LISTING, { status: 429, sentAt: 0 }, 60_000);
    limiter.acquire({ resource: "other" }, stop.signal).catch(() => {});
    expect(waits).toHaveLength(1);
    stop.abort(new Error("enough"));
    limiter.close();
    await held;
  });

  it("admits no request during a pause, including those that were already queued", async () => {
    const limiter = open(4);
    await Promise.all([1, 2, 3, 4].map(() => limiter.acquire({ resource: "libs" }, never)));
    const queued = limiter.acquire({ resource: "libs" }, never).then(() => performance.now());
    const end = performance.now() + 60;
    const throttle = (waitMs: number) => limiter.onThrottled(LISTING, { status: 500, sentAt: 0 }, waitMs);
    expect([throttle(60), throttle(10)]).toEqual([true, true]);
    expect(limiter.isPaused({ resource: "libs" })).toBe(true);
    limiter.release();
    const late = limiter.acquire({ resource: "libs" }, never).then(() => performance.now());
    limiter.release();
    expect(await queued).toBeGreaterThanOrEqual(end);
    expect(await late).toBeGreaterThanOrEqual(end);
    expect(limiter.isPaused({ resource: "libs" })).toBe(false);
  });

  it("does not let two requests for one library wait for each other's pauses", async () => {
    const limiter = open(4);
    const broken = scenariosOf("broken");
    limiter.onThrottled(broken, { status: 503, sentAt: 0 }, 60_000);
    expect(limiter.isPaused(broken)).toBe(true);
    expect(limiter.isPaused({ ...broken, hasWaited: true })).toBe(false);
    await limiter.acquire({ ...broken, hasWaited: true }, never);
  });

  it("pauses all for two resources that ask for it, but for none that failed last time (fault 18)", () => {
    const limiter = open(4);
    const ask = (name: string, failedBefore: boolean) =>
      limiter.onThrottled({ ...scenariosOf(name), failedBefore }, { status: 503, sentAt: 0 }, 10);
    expect([ask("broken", true), ask("broken too", true)]).toEqual([false, false]);
    expect([ask("first", false), ask("broken", true)]).toEqual([false, false]);
    expect(ask("second", false)).toBe(true);
  });

  it("counts the time without a success from the first throttled request since the last success", () => {
    const limiter = open(4);
    const throttle = () => {
      limiter.onThrottled(scenariosOf("a"), { status: 429, sentAt: 0 }, null);
      return limiter.throttledSince();
    };
    const first = throttle();
    expect(first).not.toBeNull();
    expect(throttle()).toBe(first);
    limiter.onSuccess(performance.now());
    expect(limiter.throttledSince()).toBeNull();
    expect(throttle()).toBeGreaterThan(first ?? 0);
  });
});

describe("the concurrency", () => {
  /** Up to 16, after `successes` successes. */
  function grown(successes: number) {
    const concurrency = createAdaptiveConcurrency(16);
    const succeed = (times: number): number => {
      for (let i = 0; i < times; i++) concurrency.onSuccess();
      return concurrency.limit();
    };
    succeed(successes);
    return { ...concurrency, succeed };
  }

  it("starts slowly and grows by one with every success, up to the maximum", () => {
    const { limit, succeed } = grown(0);
    expect([limit(), succeed(11), succeed(1), succeed(99)]).toEqual([4, 15, 16, 16]);
    expect(createAdaptiveConcurrency(2).limit()).toBe(2);
  });

  it("is reduced by a quarter, at most once in half a second, and never below one", () => {
    const { limit, onThrottled } = grown(12);
    const limits = [1000, 1499, 1500, 2000, 2500, 3000, 3500, 4000, 4500, 5000, 5500].map((now) => {
      onThrottled(now);
      return limit();
    });
    expect(limits).toEqual([12, 12, 9, 6, 4, 3, 2, 1, 1, 1, 1]);
  });

  it("grows by one for each full round after a reduction", () => {
    const { onThrottled, succeed } = grown(12);
    onThrottled(0);
    expect([succeed(11), succeed(1), succeed(12), succeed(1)]).toEqual([12, 13, 13, 14]);
  });

  it("restarts slowly after a pause, up to the value at which it was reduced", () => {
    const { onThrottled, slowStart, limit, succeed } = grown(12);
    onThrottled(0);
    slowStart();
    expect([limit(), succeed(8), succeed(11)]).toEqual([4, 12, 12]);
  });
});

describe("the pacer", () => {
  /** A pacer without a maximum, after successes at this interval. */
  function paced(successes: number, everyMs = 10) {
    const pacer = createPacer(null);
    for (let i = 0; i < successes; i++) pacer.onSuccess(i * everyMs, i * everyMs);
    return pacer;
  }

  /** Sends sequential requests through a leaky bucket in virtual time; returns the duration and the number refused. */
  function send(pacer: ReturnType<typeof paced>, requests: number, perSecond: (now: number) => number, burst: number) {
    let now = 0;
    let excess = 0;
    let last = 0;
    let refused = 0;
    for (let accepted = 0; accepted < requests; ) {
      const sentAt = now;
      const next = Math.max(0, excess - ((now - last) * perSecond(now)) / 1000 + 1);
      if (next > burst + 1) {
        refused++;
        pacer.onThrottled(sentAt, now + 2, 429);
      } else {
        accepted++;
        excess = next;
        last = now;
        pacer.onSuccess(sentAt, now + 2);
      }
      now += Math.max(2.1, pacer.spacing());
    }
    return { seconds: now / 1000, refused };
  }

  it("does not pace before the first throttled request, nor with a single success before it", () => {
    expect(paced(1000).spacing()).toBe(0);
    const pacer = paced(1);
    pacer.onThrottled(1, 2, 429);
    expect(pacer.spacing()).toBe(0);
  });

  it("never starts requests faster than SIMCAT_MAX_RPS", () => {
    const pacer = createPacer(10);
    expect(pacer.spacing()).toBe(100);
    for (let i = 0; i < 8; i++) pacer.onSuccess(i * 500, i * 500);
    pacer.onThrottled(4000, 4000, 429);
    expect(pacer.spacing()).toBe(500);
    for (let i = 0; i < 200; i++) pacer.onSuccess(4000 + i * 500, 4000 + i * 500);
    expect(pacer.spacing()).toBe(100);
  });

  it("starts at the rate of the recent successes, reduced once for all requests in flight", () => {
    const pacer = paced(40);
    for (let i = 0; i < 16; i++) pacer.onThrottled(390 + i / 2, 400 + i, 429);
    expect(pacer.spacing()).toBeCloseTo(10);
  });

  it.each([
    [429, 10_000],
    [503, 200],
  ])("slows down while every request is throttled with %i, down to one in %i ms", (status, longest) => {
    const pacer = paced(16);
    for (let i = 1; i <= 30; i++) pacer.onThrottled(1000 * i, 1000 * i, status);
    expect(pacer.spacing()).toBe(longest);
  });

  it("recovers its rate within a few successes", () => {
    const pacer = createPacer(null);
    send(pacer, 400, () => 50, 5);
    for (let i = 0; i < 8; i++) pacer.onThrottled(100_000 + i * 1000, 100_000 + i * 1000, 429);
    expect(pacer.spacing()).toBeGreaterThan(1000);
    for (let i = 0; i < 10; i++) pacer.onSuccess(200_000 + i * 1000, 200_000 + i * 1000);
    expect(pacer.spacing()).toBeLessThan(150);
  });

  it.each([20, 50, 200].flatMap((rate) => [0, 5, 20].map((burst) => [rate, burst] as const)))(
    "finds and uses a limit of %i per second (burst %i) with few refusals",
    (rate, burst) => {
      const { seconds, refused } = send(createPacer(null), 600, () => rate, burst);
      expect(refused).toBeLessThan(600 * 0.2);
      expect(600 / seconds).toBeGreaterThan(rate * 0.8);
    },
  );

  it.each([
    ["falls", (now: number) => (now < 2000 ? 200 : 20), 14],
    ["rises", (now: number) => (now < 5000 ? 20 : 200), 12],
  ])("follows a limit that %s during the run", (_, limit, maxSeconds) => {
    const { seconds, refused } = send(createPacer(null), 600, limit, 5);
    expect(refused).toBeLessThan(600 * 0.2);
    expect(seconds).toBeLessThan(maxSeconds);
  });
});

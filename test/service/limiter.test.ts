import { describe, expect, it } from "vitest";
import { createLimiter } from "../../src/service/http/limiter.ts";
import { failureOf, never } from "./service-under-test.ts";

const open = (concurrency: number, maxRps: number | null = null) =>
  createLimiter({ concurrency, maxRps, cutEveryMs: 500 });

describe("the limiter", () => {
  it("admits requests up to the limit, and queues the others in order", async () => {
    const limiter = open(2);
    const entered: string[] = [];
    const enter = (name: string) => limiter.acquire("libs", never).then(() => entered.push(name));
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
    await limiter.acquire("libs", never);
    const impatient = new AbortController();
    const gone = failureOf(limiter.acquire("libs", impatient.signal));
    const next = limiter.acquire("libs", never);
    const reason = new Error("enough");
    impatient.abort(reason);
    expect(await gone).toBe(reason);
    limiter.release();
    await next;
    expect(await failureOf(limiter.acquire("libs", impatient.signal))).toBe(reason);
  });

  it("spaces starts evenly, never closer than the rate allows", async () => {
    const limiter = open(16, 100);
    const starts: number[] = [];
    const before = performance.now();
    await Promise.all(
      Array.from({ length: 4 * 5 }, async () => {
        await limiter.acquire("libs", new AbortController().signal);
        starts.push(performance.now());
        limiter.release();
      }),
    );
    expect(starts.every((at, i) => at - before >= i * 10)).toBe(true);
    expect((starts.at(-1) ?? 0) - before).toBeLessThan(20 * 10 * 5);
  });

  it("admits no request during a pause, including those that were already queued", async () => {
    const limiter = open(4);
    await Promise.all([1, 2, 3, 4].map(() => limiter.acquire("libs", never)));
    const queued = limiter.acquire("libs", never).then(() => performance.now());
    const end = performance.now() + 60;
    const throttle = (waitMs: number) =>
      limiter.onThrottled({ status: 500, sentAt: 0, resource: "other", failedBefore: false, isListing: true, waitMs });
    expect([throttle(60), throttle(10)]).toEqual([true, true]);
    expect(limiter.isPaused("libs")).toBe(true);
    limiter.release();
    const late = limiter.acquire("libs", never).then(() => performance.now());
    limiter.release();
    expect(await queued).toBeGreaterThanOrEqual(end);
    expect(await late).toBeGreaterThanOrEqual(end);
    expect(limiter.isPaused("libs")).toBe(false);
  });

  it("pauses all for two resources that ask for it, but for none that failed last time (fault 18)", () => {
    const limiter = open(4);
    const ask = (resource: string, failedBefore: boolean) =>
      limiter.onThrottled({ status: 503, sentAt: 0, resource, failedBefore, isListing: false, waitMs: 10 });
    expect([ask("broken", true), ask("broken too", true), ask("first", false), ask("broken", true)]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(ask("second", false)).toBe(true);
  });

  it("counts the time without a success from the first throttled request since the last success", () => {
    const limiter = open(4);
    const throttle = () => {
      limiter.onThrottled({
        status: 429,
        sentAt: 0,
        resource: "a",
        failedBefore: false,
        isListing: false,
        waitMs: null,
      });
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

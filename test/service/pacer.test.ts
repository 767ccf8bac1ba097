import { describe, expect, it } from "vitest";
import { createPacer, type Pacer } from "../../src/service/http/limiter.ts";

/** Sends sequential requests through a leaky bucket in virtual time; returns the duration and the number refused. */
function send(pacer: Pacer, requests: number, perSecond: (now: number) => number, burst: number, status = 429) {
  let now = 0;
  let excess = 0;
  let last = 0;
  let refused = 0;
  for (let accepted = 0; accepted < requests; ) {
    const sentAt = now;
    const next = Math.max(0, excess - ((now - last) * perSecond(now)) / 1000 + 1);
    if (next > burst + 1) {
      refused++;
      pacer.onThrottled(sentAt, now + 2, status);
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

describe("the pacer", () => {
  it("does not pace before the first throttled request", () => {
    const pacer = createPacer(null);
    for (let i = 0; i < 1000; i++) pacer.onSuccess(i, i + 1);
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

  it("starts at the rate of the recent successes", () => {
    const pacer = createPacer(null);
    for (let i = 0; i < 40; i++) pacer.onSuccess(i * 10, i * 10);
    pacer.onThrottled(390, 400, 429);
    expect(pacer.spacing()).toBeCloseTo(10);
  });

  it("has no starting rate before the second success", () => {
    const pacer = createPacer(null);
    pacer.onSuccess(0, 1);
    pacer.onThrottled(1, 2, 429);
    expect(pacer.spacing()).toBe(0);
  });

  it("reduces the rate once for all requests in flight", () => {
    const pacer = createPacer(null);
    for (let i = 0; i < 16; i++) pacer.onSuccess(i * 10, i * 10);
    for (let i = 0; i < 16; i++) pacer.onThrottled(150 + i / 2, 160 + i, 429);
    expect(pacer.spacing()).toBeCloseTo(10);
  });

  it.each([
    [429, 10_000],
    [503, 200],
  ])("slows down while every request is throttled with %i, down to one in %i ms", (status, longest) => {
    const pacer = createPacer(null);
    for (let i = 0; i < 16; i++) pacer.onSuccess(i * 10, i * 10);
    for (let i = 0; i < 30; i++) pacer.onThrottled(1000 * (i + 1), 1000 * (i + 1), status);
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

  it("follows a limit that falls or rises during the run", () => {
    const fallen = send(createPacer(null), 600, (now) => (now < 2000 ? 200 : 20), 5);
    expect(fallen.refused).toBeLessThan(600 * 0.2);
    expect(fallen.seconds).toBeLessThan(2 + (200 / 20) * 1.2);
    const risen = send(createPacer(null), 600, (now) => (now < 5000 ? 20 : 200), 5);
    expect(risen.refused).toBeLessThan(600 * 0.2);
    expect(risen.seconds).toBeLessThan(12);
  });
});

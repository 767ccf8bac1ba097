import { describe, expect, it } from "vitest";
import { openCongestion } from "../../src/service/http/congestion.ts";
import { openLimiter } from "../../src/service/http/limiter.ts";
import { openPacer } from "../../src/service/http/pacer.ts";
import { failureOf, never } from "./service-under-test.ts";

describe("the limiter", () => {
  it("admits requests up to the limit, and queues the others in order", async () => {
    const limiter = openLimiter(openCongestion(2, 500), openPacer(null));
    const entered: string[] = [];
    const enter = (name: string) => limiter.enter(never).then(() => entered.push(name));
    const all = ["a", "b", "c", "d"].map(enter);
    await all[1];
    expect(entered).toEqual(["a", "b"]);
    limiter.leave();
    await all[2];
    expect(entered).toEqual(["a", "b", "c"]);
    limiter.leave();
    await all[3];
    expect(entered).toEqual(["a", "b", "c", "d"]);
  });

  it("an aborted signal ends the wait at once and frees the place in the queue", async () => {
    const limiter = openLimiter(openCongestion(1, 500), openPacer(null));
    await limiter.enter(never);
    const impatient = new AbortController();
    const gone = failureOf(limiter.enter(impatient.signal));
    const next = limiter.enter(never);
    const reason = new Error("enough");
    impatient.abort(reason);
    expect(await gone).toBe(reason);
    limiter.leave();
    await next;
    expect(await failureOf(limiter.enter(impatient.signal))).toBe(reason);
  });

  it("spaces starts evenly, never closer than the rate allows", async () => {
    const limiter = openLimiter(openCongestion(16, 500), openPacer(100));
    const starts: number[] = [];
    const before = performance.now();
    await Promise.all(
      Array.from({ length: 4 * 5 }, async () => {
        await limiter.enter(new AbortController().signal);
        starts.push(performance.now());
        limiter.leave();
      }),
    );
    expect(starts.every((at, i) => at - before >= i * 10)).toBe(true);
    expect((starts.at(-1) ?? 0) - before).toBeLessThan(20 * 10 * 5);
  });

  it("admits no request during a pause, including those that were already queued", async () => {
    const limiter = openLimiter(openCongestion(4, 500), openPacer(null));
    await Promise.all([1, 2, 3, 4].map(() => limiter.enter(never)));
    const queued = limiter.enter(never).then(() => performance.now());
    const end = performance.now() + 60;
    limiter.pauseUntil(end);
    limiter.pauseUntil(end - 50);
    expect(limiter.paused()).toBe(true);
    limiter.leave();
    const late = limiter.enter(never).then(() => performance.now());
    limiter.leave();
    expect(await queued).toBeGreaterThanOrEqual(end);
    expect(await late).toBeGreaterThanOrEqual(end);
    expect(limiter.paused()).toBe(false);
  });
});

import { expect, it } from "vitest";
import { createAdaptiveConcurrency } from "../../src/service/http/limiter.ts";

function succeed(times: number, concurrency: ReturnType<typeof createAdaptiveConcurrency>): number {
  for (let i = 0; i < times; i++) concurrency.onSuccess();
  return concurrency.limit();
}

it("starts slowly and grows by one with every success, up to the maximum", () => {
  const concurrency = createAdaptiveConcurrency(16, 500);
  expect(concurrency.limit()).toBe(4);
  expect(succeed(11, concurrency)).toBe(15);
  expect(succeed(1, concurrency)).toBe(16);
  expect(succeed(99, concurrency)).toBe(16);
});

it("starts no higher than the maximum", () => {
  expect(createAdaptiveConcurrency(2, 500).limit()).toBe(2);
  expect(createAdaptiveConcurrency(1, 500).limit()).toBe(1);
});

it("is reduced by a quarter, at most once in half a second", () => {
  const concurrency = createAdaptiveConcurrency(16, 500);
  succeed(12, concurrency);
  concurrency.onThrottled(1000);
  expect(concurrency.limit()).toBe(12);
  concurrency.onThrottled(1499);
  expect(concurrency.limit()).toBe(12);
  concurrency.onThrottled(1500);
  expect(concurrency.limit()).toBe(9);
});

it("is never reduced below one", () => {
  const concurrency = createAdaptiveConcurrency(4, 500);
  for (let i = 0; i < 10; i++) concurrency.onThrottled(i * 500);
  expect(concurrency.limit()).toBe(1);
});

it("grows by one for each full round after a reduction", () => {
  const concurrency = createAdaptiveConcurrency(16, 500);
  succeed(12, concurrency);
  concurrency.onThrottled(0);
  expect(succeed(11, concurrency)).toBe(12);
  expect(succeed(1, concurrency)).toBe(13);
  expect(succeed(12, concurrency)).toBe(13);
  expect(succeed(1, concurrency)).toBe(14);
});

it("restarts slowly after a pause, up to the value at which it was reduced", () => {
  const concurrency = createAdaptiveConcurrency(16, 500);
  succeed(12, concurrency);
  concurrency.onThrottled(0);
  concurrency.slowStart();
  expect(concurrency.limit()).toBe(4);
  expect(succeed(8, concurrency)).toBe(12);
  expect(succeed(11, concurrency)).toBe(12);
});

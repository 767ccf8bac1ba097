import { expect, test } from "vitest";
import { createCircuitBreaker } from "../src/circuit-breaker.ts";
import { ContentError, SourceUnavailableError } from "../src/errors.ts";

const error = new ContentError("network", "reset");

test("opens after twenty consecutive failures, and not after nineteen", () => {
  const breaker = createCircuitBreaker();
  for (let count = 0; count < 19; count += 1) breaker.countFailure(false);
  expect(() => breaker.assertClosed(error, "")).not.toThrow();
  breaker.countFailure(false);
  expect(() => breaker.assertClosed(error, "; try again later")).toThrow(
    new SourceUnavailableError(
      "20 libraries in a row could not be read, so the service is considered down (the last: reset); try again later",
    ),
  );
});

test("starts to count again after a success", () => {
  const breaker = createCircuitBreaker();
  for (let count = 0; count < 19; count += 1) breaker.countFailure(false);
  breaker.reset();
  for (let count = 0; count < 19; count += 1) breaker.countFailure(false);
  expect(() => breaker.assertClosed(error, "")).not.toThrow();
});

test("libraries that failed before do not open it, but make each twenty failures doubtful", () => {
  const breaker = createCircuitBreaker();
  const doubtfulAt: number[] = [];
  for (let count = 1; count <= 45; count += 1) {
    breaker.countFailure(true);
    if (breaker.isDoubtful()) doubtfulAt.push(count);
  }
  expect(doubtfulAt).toEqual([20, 40]);
  expect(() => breaker.assertClosed(error, "")).not.toThrow();
  breaker.reset();
  expect(breaker.isDoubtful()).toBe(false);
});

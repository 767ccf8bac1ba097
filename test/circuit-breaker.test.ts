import { expect, test } from "vitest";
import { CircuitBreaker, outageError } from "../src/circuit-breaker.ts";
import { ContentError, SourceUnavailableError } from "../src/errors.ts";

/** The states after each of `count` failures that are not `closed`, by their number. */
function statesOf(breaker: CircuitBreaker, count: number, failedBefore = false): Record<number, string> {
  const states = Array.from({ length: count }, (_, at) => [at + 1, breaker.addFailure(failedBefore)] as const);
  return Object.fromEntries(states.filter(([, state]) => state !== "closed"));
}

test("opens after twenty consecutive failures, and not after nineteen", () => {
  expect(statesOf(new CircuitBreaker(), 20)).toEqual({ 20: "open" });
});

test("starts to count again after a success", () => {
  const breaker = new CircuitBreaker();
  expect(statesOf(breaker, 19)).toEqual({});
  breaker.reset();
  expect(statesOf(breaker, 19)).toEqual({});
});

test("libraries that failed before do not open it, but make each twenty failures doubtful", () => {
  expect(statesOf(new CircuitBreaker(), 45, true)).toEqual({ 20: "doubtful", 40: "doubtful" });
});

test("its error names the last failure and says what to do", () => {
  expect(outageError(new ContentError("network", "reset"), "; try again later")).toEqual(
    new SourceUnavailableError(
      "20 libraries in a row could not be read, so the service is considered down (the last: reset); try again later",
    ),
  );
});

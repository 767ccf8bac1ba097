import { expect, it } from "vitest";
import { decideRetry, type FailedAttempt, type RetryHistory, type RetryPolicy } from "../../src/service/http/get.ts";

const POLICY: RetryPolicy = { maxRetries: 4, maxRetryWaitMs: 60_000, backoffBaseMs: 250, maxBackoffMs: 10_000 };
const FIRST: RetryHistory = { attemptsUsed: 0, failures: 0, toleratesThrottling: false };
const failed = (kind: FailedAttempt["kind"]): FailedAttempt => ({ kind, status: null, retryAfterMs: null });
const status = (code: number, retryAfterMs: number | null = null): FailedAttempt => ({
  kind: "status",
  status: code,
  retryAfterMs,
});
const retry = (delayMs: number) => ({ delayMs, counted: true });

it.each([
  ...(["network", "timeout", "truncated"] as const).map(failed),
  ...[408, 429, 500, 501, 502, 503, 504, 599].map((code) => status(code)),
])("retries $kind $status while attempts are left", (attempt) => {
  expect(decideRetry(attempt, { ...FIRST, attemptsUsed: 3, failures: 3 }, POLICY, 0.5)).toEqual(retry(1000));
  expect(decideRetry(attempt, { ...FIRST, attemptsUsed: 4, failures: 4 }, POLICY, 0.5)).toBe("attempts");
});

it.each([
  ...(["certificate", "untrusted", "too_large", "proxy_refused", "too_many_files"] as const).map(failed),
  ...[201, 204, 206, 301, 304, 400, 401, 403, 404, 407, 409, 410, 422, 425, 428, 430, 499, 600].map((code) =>
    status(code),
  ),
  status(404, 1000),
])("does not retry $kind $status", (attempt) => {
  expect(decideRetry(attempt, FIRST, POLICY, 0.5)).toBe("final");
});

it.each([
  [0, 1, 250],
  [1, 1, 500],
  [2, 1, 1000],
  [5, 1, 8000],
  [6, 1, 10_000],
  [50, 1, 10_000],
  [3, 0, 0],
  [3, 0.25, 500],
])("waits with full jitter after %i failures, by the random number %d: %i ms", (failures, random, delayMs) => {
  expect(decideRetry(failed("network"), { ...FIRST, failures }, POLICY, random)).toEqual(retry(delayMs));
});

it("waits for the longest allowed Retry-After with jitter, and not for a longer one", () => {
  expect(decideRetry(status(429, 2000), FIRST, POLICY, 0.5)).toEqual(retry(2125));
  expect(decideRetry(status(503, 60_000), FIRST, POLICY, 0)).toEqual(retry(60_000));
  expect(decideRetry(status(503, 60_001), FIRST, POLICY, 0)).toBe("asked_too_long");
});

it.each([status(429), status(503), status(503, 1000), status(500, 1000)])(
  "counts no attempt for $status with a Retry-After of $retryAfterMs while other requests succeed",
  (attempt) => {
    const history = { ...FIRST, attemptsUsed: 4, failures: 9 };
    const others = { ...history, toleratesThrottling: true };
    expect(decideRetry(attempt, others, POLICY, 0)).toMatchObject({ counted: false });
    expect(decideRetry(attempt, history, POLICY, 0)).toBe("attempts");
  },
);

it("counts the attempt of a 500 without a Retry-After, even while other requests succeed", () => {
  expect(decideRetry(status(500), { ...FIRST, toleratesThrottling: true }, POLICY, 0)).toMatchObject({ counted: true });
});

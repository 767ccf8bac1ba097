import { describe, expect, it } from "vitest";
import { parseHttpDate, parseRetryAfter } from "../../src/service/http/headers.ts";
import {
  backoffMs,
  decideRetry,
  type FailedAttempt,
  isRetryableStatus,
  type RetryHistory,
  type RetryPolicy,
} from "../../src/service/http/retry-policy.ts";

const POLICY: RetryPolicy = { maxRetries: 4, maxRetryWaitMs: 60_000, backoffBaseMs: 250, maxBackoffMs: 10_000 };
const FIRST: RetryHistory = {
  attemptsUsed: 0,
  failures: 0,
  toleratesThrottling: true,
  othersSucceeded: false,
};
const NETWORK: FailedAttempt = { kind: "network", status: null, retryAfterMs: null };
const status = (code: number, retryAfter: number | null = null): FailedAttempt => ({
  kind: "status",
  status: code,
  retryAfterMs: retryAfter,
});
const NOON = Date.UTC(2026, 0, 15, 12, 0, 0);

describe("parseHttpDate", () => {
  it.each([
    ["Sun, 06 Nov 1994 08:49:37 GMT", Date.UTC(1994, 10, 6, 8, 49, 37)],
    ["Thu, 15 Jan 2026 12:00:05 GMT", NOON + 5000],
  ])("parses %s", (text, expected) => {
    expect(parseHttpDate(text)).toBe(expected);
  });

  it.each([
    "",
    "2026-01-15T12:00:00Z",
    "Thu, 15 Jan 2026 12:00:00 CET",
    "Thu, 31 Feb 2026 12:00:00 GMT",
    "Thu, 15 Jan 2026 25:00:00 GMT",
    "Thu, 15 jan 2026 12:00:00",
    "Fri, 15 Jan 2026 12:00:00 GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
    "Invalid Date",
    "tomorrow",
  ])("does not accept %j as a date", (text) => {
    expect(parseHttpDate(text)).toBeNull();
  });
});

describe("parseRetryAfter", () => {
  it.each([
    ["2", 2000],
    [" 120 ", 120_000],
    ["Thu, 15 Jan 2026 12:00:05 GMT", 5000],
  ])("waits for the duration of %j", (value, expected) => {
    expect(parseRetryAfter(value, null, NOON)).toBe(expected);
  });

  it.each([
    "0",
    "-1",
    "1.5",
    "+3",
    "1e3",
    "0x10",
    "soon",
    "",
    "2, 3",
    "Thu, 15 Jan 2026 12:00:00 GMT",
    "Thu, 15 Jan 2026 11:59:59 GMT",
  ])("ignores %j (fault 19)", (value) => {
    expect(parseRetryAfter(value, null, NOON)).toBeNull();
  });

  it("returns null without the header", () => {
    expect(parseRetryAfter(null, null, NOON)).toBeNull();
  });

  it("measures a date against the Date of the answer, so that a wrong local clock has no effect", () => {
    const anHourAhead = NOON + 3_600_000;
    const date = "Thu, 15 Jan 2026 12:00:00 GMT";
    expect(parseRetryAfter("Thu, 15 Jan 2026 12:00:05 GMT", date, anHourAhead)).toBe(5000);
    expect(parseRetryAfter("Thu, 15 Jan 2026 12:00:05 GMT", "now", NOON)).toBe(5000);
  });
});

describe("isRetryableStatus", () => {
  it.each([408, 429, 500, 501, 502, 503, 504, 599])("retries %i", (code) => {
    expect(isRetryableStatus(code)).toBe(true);
  });
  it.each([200, 204, 206, 301, 304, 400, 401, 403, 404, 407, 409, 410, 422, 425, 428, 430, 499, 600])(
    "does not retry %i",
    (code) => {
      expect(isRetryableStatus(code)).toBe(false);
    },
  );
});

describe("backoffMs", () => {
  it("doubles its upper bound from 250 ms up to 10 s", () => {
    expect([0, 1, 2, 3, 4, 5, 6, 50].map((failures) => backoffMs(failures, POLICY, 1))).toEqual([
      250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000,
    ]);
  });
  it("has full jitter, starting at zero", () => {
    expect(backoffMs(3, POLICY, 0)).toBe(0);
    expect(backoffMs(3, POLICY, 0.25)).toBe(500);
  });
});

describe("decideRetry", () => {
  it.each([
    ["a network fault", NETWORK],
    ["a time-out", { ...NETWORK, kind: "timeout" as const }],
    ["truncation", { ...NETWORK, kind: "truncated" as const }],
    ["a 503", status(503)],
  ])("retries %s while attempts are left", (_, failed) => {
    expect(decideRetry(failed, { ...FIRST, attemptsUsed: 3, failures: 3 }, POLICY, 0.5)).toEqual({
      kind: "retry",
      delayMs: 1000,
      counted: true,
    });
    expect(decideRetry(failed, { ...FIRST, attemptsUsed: 4, failures: 4 }, POLICY, 0.5)).toEqual({
      kind: "stop",
      why: "attempts",
    });
  });

  it.each([
    ["a certificate", { ...NETWORK, kind: "certificate" as const }],
    ["a wrong shape", { ...NETWORK, kind: "untrusted" as const }],
    ["too large a body", { ...NETWORK, kind: "too_large" as const }],
    ["a 404", status(404)],
    ["a 404 with a Retry-After", status(404, 1000)],
  ])("does not retry %s", (_, failed) => {
    expect(decideRetry(failed, FIRST, POLICY, 0.5)).toEqual({ kind: "stop", why: "final" });
  });

  it("adds jitter to the Retry-After", () => {
    expect(decideRetry(status(429, 2000), FIRST, POLICY, 0.5)).toEqual({ kind: "retry", delayMs: 2125, counted: true });
  });

  it("waits for the longest allowed Retry-After, and not for a longer one", () => {
    expect(decideRetry(status(503, 60_000), FIRST, POLICY, 0)).toEqual({
      kind: "retry",
      delayMs: 60_000,
      counted: true,
    });
    expect(decideRetry(status(503, 60_001), FIRST, POLICY, 0)).toEqual({ kind: "stop", why: "asked_too_long" });
  });

  it.each([
    ["a 429", status(429)],
    ["a 503", status(503)],
    ["a 503 with a Retry-After", status(503, 1000)],
    ["a 500 with a Retry-After", status(500, 1000)],
  ])("counts no attempt for %s on content while other requests succeed", (_, failed) => {
    const history = { ...FIRST, attemptsUsed: 4, failures: 9 };
    expect(decideRetry(failed, { ...history, othersSucceeded: true }, POLICY, 0)).toMatchObject({ counted: false });
    expect(decideRetry(failed, history, POLICY, 0)).toEqual({ kind: "stop", why: "attempts" });
    expect(
      decideRetry(failed, { ...history, othersSucceeded: true, toleratesThrottling: false }, POLICY, 0),
    ).toMatchObject({
      kind: "stop",
    });
  });

  it("counts the attempt of a 500 without a Retry-After, even while other requests succeed", () => {
    expect(decideRetry(status(500), { ...FIRST, othersSucceeded: true }, POLICY, 0)).toMatchObject({ counted: true });
  });
});

import type { FailureKind } from "./attempt-failure.ts";
import { parseHttpDate } from "./http-date.ts";

export interface RetryPolicy {
  /** Attempts beyond the first. */
  readonly maxRetries: number;
  /** The longest Retry-After that is waited for. */
  readonly maxRetryWaitMs: number;
  readonly backoffBaseMs: number;
  readonly backoffMostMs: number;
}

/** What the decision needs of the attempt that failed. */
export interface Setback {
  readonly kind: FailureKind;
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  readonly stale: boolean;
}

/** What the decision needs of what went before. */
export interface History {
  /** Attempts that counted, this one not yet. */
  readonly used: number;
  /** Failures that were waited for, this one not yet. */
  readonly failures: number;
  readonly staleForgiven: boolean;
  /** Content: waits that the service asks for use up no attempt while other requests succeed. */
  readonly patient: boolean;
  readonly othersSucceeded: boolean;
}

export type Verdict =
  | { readonly kind: "retry"; readonly delayMs: number; readonly counted: boolean }
  /** At once, and as if nothing had been: the connection was closed while it lay idle. */
  | { readonly kind: "again" }
  | { readonly kind: "stop"; readonly why: "final" | "attempts" | "asked_too_long" };

export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status < 600);
}

/** Full jitter: anything between nothing and the doubling step, so that clients that failed together part. */
export function backoffMs(failures: number, policy: RetryPolicy, random: number): number {
  return random * Math.min(policy.backoffMostMs, policy.backoffBaseMs * 2 ** failures);
}

/**
 * How long a Retry-After asks to wait: whole seconds, or a date, measured against the answer's own `Date` where it has
 * one (our clock may be wrong). Null for what asks for nothing: malformed, negative, zero, past.
 */
export function retryAfterMs(value: string | null, date: string | null, now: number): number | null {
  if (value === null) return null;
  const seconds = /^\s*(\d+)\s*$/.exec(value)?.[1];
  const until = parseHttpDate(value, now);
  const from = (date === null ? null : parseHttpDate(date, now)) ?? now;
  const wait = seconds === undefined ? (until ?? from) - from : Number(seconds) * 1000;
  return wait > 0 ? wait : null;
}

function isRetryable(setback: Setback): boolean {
  if (setback.status !== null) return isRetryableStatus(setback.status);
  return setback.kind === "network" || setback.kind === "timeout" || setback.kind === "truncated";
}

export function isThrottled(status: number): boolean {
  return status === 429 || status === 503;
}

/** Whether the service asked us to wait, rather than failed. A 503 does, because many limiters answer with it. */
export function askedToWait(setback: Setback): boolean {
  const { status, retryAfterMs } = setback;
  return status !== null && isRetryable(setback) && (isThrottled(status) || retryAfterMs !== null);
}

export function decideRetry(setback: Setback, history: History, policy: RetryPolicy, random: number): Verdict {
  if (!isRetryable(setback)) return { kind: "stop", why: "final" };
  if (setback.stale && !history.staleForgiven) return { kind: "again" };
  const floor = setback.retryAfterMs ?? 0;
  if (floor > policy.maxRetryWaitMs) return { kind: "stop", why: "asked_too_long" };
  const counted = !(history.patient && history.othersSucceeded && askedToWait(setback));
  if (counted && history.used >= policy.maxRetries) return { kind: "stop", why: "attempts" };
  return { kind: "retry", delayMs: floor + backoffMs(history.failures, policy, random), counted };
}

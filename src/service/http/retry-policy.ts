export interface RetryPolicy {
  /** Attempts after the first. */
  readonly maxRetries: number;
  /** The longest Retry-After to wait for. */
  readonly maxRetryWaitMs: number;
  readonly backoffBaseMs: number;
  readonly maxBackoffMs: number;
}

/** Why an attempt failed. */
export type FailureKind =
  | "status"
  | "network"
  | "certificate"
  | "timeout"
  | "truncated"
  | "untrusted"
  | "too_large"
  /** The proxy refused, and will refuse again. */
  | "proxy_refused"
  /** This machine has no file descriptor left for a connection. */
  | "too_many_files";

/** The failed attempt, as far as the decision needs it. */
export interface FailedAttempt {
  readonly kind: FailureKind;
  /** Of the response, if it was not 200; otherwise null. */
  readonly status: number | null;
  /** The delay that the response requested; null if it requested none. */
  readonly retryAfterMs: number | null;
}

/** The earlier attempts at the same GET. */
export interface RetryHistory {
  /** Attempts that counted, without this one. */
  readonly attemptsUsed: number;
  /** Failures, without this one. */
  readonly failures: number;
  /** Waits that the service asks for do not count as attempts while other requests succeed. */
  readonly toleratesThrottling: boolean;
  readonly othersSucceeded: boolean;
}

type RetryDecision =
  | { readonly kind: "retry"; readonly delayMs: number; readonly counted: boolean }
  | { readonly kind: "stop"; readonly why: "final" | "attempts" | "asked_too_long" };

export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status < 600);
}

/** True if the status asks for fewer requests. 503 counts, because many rate limiters use it. */
export function isThrottled(status: number): boolean {
  return status === 429 || status === 503;
}

/** Full jitter: any delay from zero to the doubling step, so that clients that failed together do not retry together. */
export function backoffMs(failures: number, policy: RetryPolicy, random: number): number {
  return random * Math.min(policy.maxBackoffMs, policy.backoffBaseMs * 2 ** failures);
}

function isRetryable({ kind, status }: FailedAttempt): boolean {
  if (status !== null) return isRetryableStatus(status);
  return kind === "network" || kind === "timeout" || kind === "truncated";
}

/** True if the service asked for a wait: by 429, 503, or Retry-After on another retryable status. */
export function asksToWait(failed: FailedAttempt): boolean {
  const { status, retryAfterMs } = failed;
  return status !== null && isRetryable(failed) && (isThrottled(status) || retryAfterMs !== null);
}

/** `random` is a number from 0 to 1. */
export function decideRetry(
  failed: FailedAttempt,
  history: RetryHistory,
  policy: RetryPolicy,
  random: number,
): RetryDecision {
  if (!isRetryable(failed)) return { kind: "stop", why: "final" };
  const minDelayMs = failed.retryAfterMs ?? 0;
  if (minDelayMs > policy.maxRetryWaitMs) return { kind: "stop", why: "asked_too_long" };
  const counted = !(history.toleratesThrottling && history.othersSucceeded && asksToWait(failed));
  if (counted && history.attemptsUsed >= policy.maxRetries) return { kind: "stop", why: "attempts" };
  return { kind: "retry", delayMs: minDelayMs + backoffMs(history.failures, policy, random), counted };
}

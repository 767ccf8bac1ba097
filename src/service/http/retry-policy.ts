import { type AttemptFailure, isRetryableStatus, isThrottled } from "./attempt-failure.ts";

export interface RetryPolicy {
  /** Attempts after the first. */
  readonly maxRetries: number;
  /** The longest Retry-After to wait for. */
  readonly maxRetryWaitMs: number;
  readonly backoffBaseMs: number;
  readonly maxBackoffMs: number;
}

/** The failed attempt, as far as the decision needs it. */
export type FailedAttempt = Pick<AttemptFailure, "kind" | "status" | "retryAfterMs" | "staleConnection">;

/** The earlier attempts at the same GET. */
export interface RetryHistory {
  /** Attempts that counted, without this one. */
  readonly attemptsUsed: number;
  /** Failures, without this one. */
  readonly failures: number;
  /** A retry without counting was used already. */
  readonly staleForgiven: boolean;
  /** Waits that the service asks for do not count as attempts while other requests succeed. */
  readonly toleratesThrottling: boolean;
  readonly othersSucceeded: boolean;
}

type RetryDecision =
  | { readonly kind: "retry"; readonly delayMs: number; readonly counted: boolean }
  /** Retry immediately without counting it: the server closed an idle keep-alive connection. */
  | { readonly kind: "retry_uncounted" }
  | { readonly kind: "stop"; readonly why: "final" | "attempts" | "asked_too_long" };

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
  if (failed.staleConnection && !history.staleForgiven) return { kind: "retry_uncounted" };
  const minDelayMs = failed.retryAfterMs ?? 0;
  if (minDelayMs > policy.maxRetryWaitMs) return { kind: "stop", why: "asked_too_long" };
  const counted = !(history.toleratesThrottling && history.othersSucceeded && asksToWait(failed));
  if (counted && history.attemptsUsed >= policy.maxRetries) return { kind: "stop", why: "attempts" };
  return { kind: "retry", delayMs: minDelayMs + backoffMs(history.failures, policy, random), counted };
}

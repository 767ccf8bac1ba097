import { sleep } from "../../async.ts";
import type { StopSignal } from "./abort-scope.ts";
import { attempt } from "./attempt.ts";
import type { AttemptFailure } from "./attempt-failure.ts";
import type { GetRequest, HttpContext } from "./http-context.ts";
import { asksToWait, decideRetry } from "./retry-policy.ts";

/** A GET failed and will not be retried. */
export class FailedGet extends Error {
  readonly path: string;
  /** The last attempt's failure. */
  readonly failure: AttemptFailure;
  readonly attempts: number;
  readonly why: "final" | "attempts" | "asked_too_long" | "no_success";

  constructor(path: string, failure: AttemptFailure, attempts: number, why: FailedGet["why"]) {
    super(failure.message);
    this.name = "FailedGet";
    this.path = path;
    this.failure = failure;
    this.attempts = attempts;
    this.why = why;
  }
}

/**
 * Sends a GET, with retries of the whole attempt: connection, headers, body, parsing. Throws FailedGet, the signal's
 * reason, or an error of the sink.
 */
export async function get<T>(context: HttpContext, request: GetRequest<T>, signal: StopSignal): Promise<T> {
  const { limiter, retryPolicy, timing, counters, onEvent } = context;
  const { operation, path } = request;
  let attemptsUsed = 0;
  let failures = 0;
  let staleForgiven = false;
  let successesBefore = limiter.successes();
  let waitedMs = 0;
  for (;;) {
    const result = await attempt(context, request, signal);
    if (result.kind === "parsed") return result.value;
    if (result.kind === "deferred") continue;
    const { failure } = result;
    const fail = (why: FailedGet["why"]) => new FailedGet(path, failure, failures + 1, why);
    const successes = limiter.successes();
    const othersSucceeded = successes > successesBefore;
    successesBefore = successes;
    // A library that is throttled for this long while others succeed has a fault of its own.
    const toleratesThrottling = request.toleratesThrottling && waitedMs < timing.maxThrottledMs;
    const history = { attemptsUsed, failures, staleForgiven, toleratesThrottling, othersSucceeded };
    const decision = decideRetry(failure, history, retryPolicy, Math.random());
    if (decision.kind === "stop" && decision.why === "final") throw fail("final");
    const delayMs = decision.kind === "retry" ? decision.delayMs : 0;
    if (decision.kind !== "stop") onEvent({ kind: "retry", operation, reason: failure.message, delayMs });
    const isBounded = request.toleratesThrottling && asksToWait(failure);
    if (!(await waitForRetry(delayMs, isBounded, context, signal))) throw fail("no_success");
    if (decision.kind === "stop") throw fail(decision.why);
    waitedMs += delayMs;
    counters.retries++;
    if (decision.kind === "retry_free") {
      staleForgiven = true;
      continue;
    }
    failures++;
    if (decision.counted) attemptsUsed++;
  }
}

/** Waits. Resolves with false if the service has asked for waits for too long, without a success of any request. */
async function waitForRetry(
  delayMs: number,
  isBounded: boolean,
  { limiter, timing }: HttpContext,
  signal: StopSignal,
): Promise<boolean> {
  const until = performance.now() + delayMs;
  for (;;) {
    const now = performance.now();
    const throttledSince = isBounded ? limiter.throttledSince() : null;
    const giveUpAt = throttledSince === null ? Number.POSITIVE_INFINITY : throttledSince + timing.maxThrottledMs;
    if (now >= giveUpAt) return false;
    if (now >= until) return true;
    await sleep(Math.min(until, giveUpAt) - now, signal);
  }
}

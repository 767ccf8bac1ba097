import { type StopSignal, sleep } from "../../async.ts";
import { InvalidResponse } from "../wire/item-checks.ts";
import { AttemptFailure, isRetryableStatus, isThrottled, type ResponseHead } from "./attempt-failure.ts";
import type { HttpContext } from "./http-context.ts";
import type { HttpOptions, HttpTiming } from "./http-options.ts";
import { InFlightRequest } from "./http-request.ts";
import type { RequestTarget } from "./limiter.ts";
import { HttpResponse, quoteBody } from "./response.ts";

/** A GET, and how to parse its response. */
export interface GetRequest<T> extends RequestTarget {
  /** Parses a response from its start. Called again for each attempt that receives one. Errors of a sink pass through. */
  readonly parse: (response: HttpResponse) => Promise<T>;
}

/** A GET failed and will not be retried. */
export interface FailedGet {
  readonly path: string;
  /** The last attempt's failure. */
  readonly failure: AttemptFailure;
  readonly attempts: number;
  readonly why: "final" | "attempts" | "asked_too_long" | "no_success";
}

/**
 * Sends a GET, with retries of the whole attempt: connection, headers, body, parsing. Returns the value and its response, or the failure.
 * @throws the signal's reason, or an error of the sink
 */
export async function get<T>(context: HttpContext, request: GetRequest<T>, signal: StopSignal) {
  const { limiter, maxThrottledMs, counters, onEvent } = context;
  const { operation, path } = request;
  // The run cannot do without the listing, so its waits count as attempts.
  const mayTolerate = operation !== "listing";
  let attemptsUsed = 0;
  let failures = 0;
  let successesBefore = limiter.successes();
  let waitedMs = 0;
  let busyAnswers = 0;
  let next = request;
  for (;;) {
    const answer = await attempt(context, next, signal);
    if (!(answer instanceof AttemptFailure)) {
      counters.throttled += busyAnswers;
      return answer;
    }
    const failure = answer;
    if (failure.kind === "deferred") continue;
    if (failure.status === 429) counters.throttled++;
    // It counts as throttled if a later attempt succeeds: then the rate was the reason, and not a broken library.
    if (failure.status === 503) busyAnswers++;
    const fail = (why: FailedGet["why"]): FailedGet => ({ path, failure, attempts: failures + 1, why });
    // A library that is throttled for this long while others succeed has a fault of its own.
    const toleratesThrottling = mayTolerate && waitedMs < maxThrottledMs && limiter.successes() > successesBefore;
    successesBefore = limiter.successes();
    const decision = decideRetry(failure, { attemptsUsed, failures, toleratesThrottling }, context, Math.random());
    // Since when the service has asked for waits without a success of any request.
    const throttledSince = () => (mayTolerate && asksToWait(failure) ? limiter.throttledSince() : null);
    const giveUpAt = () => (throttledSince() ?? Number.POSITIVE_INFINITY) + maxThrottledMs;
    if (typeof decision === "string") return fail(performance.now() >= giveUpAt() ? "no_success" : decision);
    const { delayMs } = decision;
    onEvent({ kind: "retry", operation, reason: failure.message, delayMs });
    if (!(await waitForRetry(delayMs, giveUpAt, signal))) return fail("no_success");
    waitedMs += delayMs;
    failures++;
    next = { ...request, hasWaited: true };
    if (decision.counted) attemptsUsed++;
  }
}

export type RetryPolicy = Pick<HttpOptions, "maxRetries" | "maxRetryWaitMs"> &
  Pick<HttpTiming, "backoffBaseMs" | "maxBackoffMs">;

/** The failed attempt, as far as the decision needs it. */
export type FailedAttempt = Pick<AttemptFailure, "kind" | "status" | "retryAfterMs">;

/** The earlier attempts at the same GET. */
export interface RetryHistory {
  /** Attempts that counted, without this one. */
  readonly attemptsUsed: number;
  /** Failures, without this one. */
  readonly failures: number;
  /** Other requests have succeeded since the last one, so a wait that the service asks for does not count as an attempt. */
  readonly toleratesThrottling: boolean;
}

function isRetryable({ kind, status }: FailedAttempt): boolean {
  if (status !== null) return isRetryableStatus(status);
  return kind === "network" || kind === "timeout" || kind === "truncated";
}

/** True if the service asked for a wait: by 429, 503, or Retry-After on another retryable status. */
function asksToWait({ status, retryAfterMs }: FailedAttempt): boolean {
  return status !== null && isRetryableStatus(status) && (isThrottled(status) || retryAfterMs !== null);
}

/** Returns the delay of the retry and whether the failed attempt counts, or why there is none. `random` is a number from 0 to 1. */
export function decideRetry(failed: FailedAttempt, history: RetryHistory, policy: RetryPolicy, random: number) {
  if (!isRetryable(failed)) return "final";
  const minDelayMs = failed.retryAfterMs ?? 0;
  if (minDelayMs > policy.maxRetryWaitMs) return "asked_too_long";
  const counted = !(history.toleratesThrottling && asksToWait(failed));
  if (counted && history.attemptsUsed >= policy.maxRetries) return "attempts";
  // Full jitter: any delay up to the doubling step, so that clients that failed together do not retry together.
  const backoffMs = random * Math.min(policy.maxBackoffMs, policy.backoffBaseMs * 2 ** history.failures);
  return { delayMs: minDelayMs + backoffMs, counted };
}

/** Waits. Resolves with false if it is time to give up, which another request may postpone meanwhile. */
async function waitForRetry(delayMs: number, giveUpAt: () => number, signal: StopSignal): Promise<boolean> {
  const until = performance.now() + delayMs;
  for (;;) {
    const now = performance.now();
    const end = giveUpAt();
    if (now >= end) return false;
    if (now >= until) return true;
    await sleep(Math.min(until, end) - now, signal);
  }
}

/** One attempt at a GET: waits for a slot, sends the request, and parses the response. */
async function attempt<T>(context: HttpContext, request: GetRequest<T>, signal: StopSignal) {
  const { limiter, counters, maxBodyBytes, quote, onEvent } = context;
  const { operation } = request;
  const count = (requests: 1 | -1) => {
    counters.requests += requests;
    if (request.hasWaited) counters.retries += requests;
  };
  await limiter.acquire(request, signal);
  count(1);
  onEvent({ kind: "sent" });
  const startedAt = performance.now();
  const emitEnd = (outcome: string) =>
    onEvent({ kind: "request", operation, outcome, ms: performance.now() - startedAt });
  const sent = new InFlightRequest(context, request, signal);
  let response: HttpResponse | null = null;
  try {
    const head = await sent.head();
    if (head.status !== 200) throw await statusFailure(head, sent, context);
    response = new HttpResponse(head, sent, maxBodyBytes, quote);
    const value = await request.parse(response);
    emitEnd("2xx");
    return { value, response };
  } catch (error) {
    const failure = error instanceof InvalidResponse ? invalidFailure(error, context) : error;
    const isDeferred = failure instanceof AttemptFailure && failure.kind === "deferred";
    if (sent.isWaiting && (isDeferred || signal.aborted)) count(-1);
    if (!(failure instanceof AttemptFailure)) throw failure;
    signal.throwIfAborted();
    if (!isDeferred) emitEnd(failure.status === null ? failure.kind : `${Math.floor(failure.status / 100)}xx`);
    return failure;
  } finally {
    onEvent({ kind: "ended" });
    counters.bytes += response?.readBytes ?? 0;
    sent.discard();
    response?.discard();
  }
}

async function statusFailure(head: ResponseHead, request: InFlightRequest, { errorBodyMs, quote }: HttpContext) {
  // A body that is longer than a quote, or that takes longer, costs its connection.
  request.shortenDeadline(errorBodyMs);
  const quoted = await quoteBody(head, request, quote);
  const detail = quoted === "" ? "" : `it said "${quoted}"`;
  return new AttemptFailure("status", `answered ${head.status}`, { detail, head, retryAfterMs: request.retryAfterMs });
}

function invalidFailure({ message, isTruncated }: InvalidResponse, { quote }: HttpContext): AttemptFailure {
  const detail = quote(message);
  if (isTruncated) return new AttemptFailure("truncated", "was cut short", { detail });
  return new AttemptFailure("untrusted", "answered 200 with what cannot be the service's answer", { detail });
}

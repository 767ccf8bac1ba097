import { type StopSignal, sleep } from "../../async.ts";
import { MalformedJson, UntrustedResponse } from "../json/parse-errors.ts";
import type { Quote } from "../redact.ts";
import { AttemptFailure, type ResponseHead, SendDeferred } from "./attempt-failure.ts";
import type { HttpContext, RequestTarget } from "./http-context.ts";
import { InFlightRequest } from "./http-request.ts";
import { HttpResponse, quoteBody } from "./response.ts";
import { asksToWait, decideRetry } from "./retry-policy.ts";

/** A GET, and how to parse its response. */
export interface GetRequest<T> extends RequestTarget {
  /** Parses a response from its start. Called again for each attempt that receives one. Errors of a sink pass through. */
  readonly parse: (response: HttpResponse) => Promise<T>;
}

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
 * Sends a GET, with retries of the whole attempt: connection, headers, body, parsing.
 * @throws FailedGet, the signal's reason, or an error of the sink
 */
export async function get<T>(context: HttpContext, request: GetRequest<T>, signal: StopSignal): Promise<T> {
  const { limiter, retryPolicy, timing, counters, onEvent } = context;
  const { operation, path } = request;
  // The run cannot do without the listing, so its waits count as attempts.
  const mayTolerate = operation !== "listing";
  let attemptsUsed = 0;
  let failures = 0;
  let successesBefore = limiter.successes();
  let waitedMs = 0;
  let busyAnswers = 0;
  for (;;) {
    const result = await attempt(context, request, signal);
    if (result.kind === "parsed") {
      counters.throttled += busyAnswers;
      return result.value;
    }
    if (result.kind === "deferred") continue;
    const { failure } = result;
    if (failure.status === 429) counters.throttled++;
    // Only if a later attempt succeeds, the library is not broken and the rate was the reason.
    if (failure.status === 503) busyAnswers++;
    const fail = (why: FailedGet["why"]) => new FailedGet(path, failure, failures + 1, why);
    const successes = limiter.successes();
    const othersSucceeded = successes > successesBefore;
    successesBefore = successes;
    // A library that is throttled for this long while others succeed has a fault of its own.
    const toleratesThrottling = mayTolerate && waitedMs < timing.maxThrottledMs;
    const history = { attemptsUsed, failures, toleratesThrottling, othersSucceeded };
    const decision = decideRetry(failure, history, retryPolicy, Math.random());
    if (decision.kind === "stop" && decision.why === "final") throw fail("final");
    const delayMs = decision.kind === "retry" ? decision.delayMs : 0;
    if (decision.kind !== "stop") onEvent({ kind: "retry", operation, reason: failure.message, delayMs });
    const isBounded = mayTolerate && asksToWait(failure);
    if (!(await waitForRetry(delayMs, isBounded, context, signal))) throw fail("no_success");
    if (decision.kind === "stop") throw fail(decision.why);
    waitedMs += delayMs;
    counters.retries++;
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

type GetAttempt<T> =
  | { readonly kind: "parsed"; readonly value: T }
  | { readonly kind: "failed"; readonly failure: AttemptFailure }
  /** Not sent, because a pause began while it connected. */
  | { readonly kind: "deferred" };

/** One attempt at a GET: waits for a slot, sends the request, and parses the response. */
async function attempt<T>(context: HttpContext, request: GetRequest<T>, signal: StopSignal): Promise<GetAttempt<T>> {
  const { limiter, counters, maxBodyBytes, quote, onEvent } = context;
  const { operation } = request;
  await limiter.acquire(request.resource, signal);
  counters.requests++;
  onEvent({ kind: "sent" });
  const startedAt = performance.now();
  const report = (outcome: string) =>
    onEvent({ kind: "request", operation, outcome, ms: performance.now() - startedAt });
  const sent = new InFlightRequest(context, request, signal);
  let response: HttpResponse | null = null;
  try {
    const head = await sent.head();
    if (head.status !== 200) throw await statusFailure(head, sent, context);
    response = new HttpResponse(head, sent, maxBodyBytes, quote);
    const value = await request.parse(response);
    report("2xx");
    return { kind: "parsed", value };
  } catch (error) {
    if (sent.isWaiting && (error instanceof SendDeferred || signal.aborted)) counters.requests--;
    if (error instanceof SendDeferred) return { kind: "deferred" };
    const failure = asFailure(error, response, quote);
    if (failure === null) throw error;
    signal.throwIfAborted();
    report(failure.status === null ? failure.kind : `${Math.floor(failure.status / 100)}xx`);
    return { kind: "failed", failure };
  } finally {
    onEvent({ kind: "ended" });
    counters.bytes += response?.bytes() ?? 0;
    response?.discard();
    sent.discard();
  }
}

async function statusFailure(
  head: ResponseHead,
  request: InFlightRequest,
  { timing, quote }: HttpContext,
): Promise<AttemptFailure> {
  const quoted = await quoteBody(head, request, timing.errorBodyMs, quote);
  const detail = quoted === "" ? "" : `it said "${quoted}"`;
  return new AttemptFailure("status", `answered ${head.status}`, { detail, head, retryAfterMs: request.retryAfterMs });
}

/** The failure that an error of the connection or of a parser means; null for any other error, such as the sink's. */
function asFailure(error: unknown, response: HttpResponse | null, quote: Quote): AttemptFailure | null {
  if (error instanceof AttemptFailure) return error;
  if (!(error instanceof MalformedJson || error instanceof UntrustedResponse)) return null;
  const detail = quote(error.message, 400);
  if (error instanceof MalformedJson && error.truncated && !(error.empty && response !== null && isFramed(response))) {
    return new AttemptFailure("truncated", "was cut short", { detail });
  }
  return new AttemptFailure("untrusted", "answered 200 with what cannot be the service's answer", { detail });
}

/** True if the end of the body was announced, so that an empty body is complete and not truncated. */
function isFramed({ headers }: HttpResponse): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}

import { MalformedJson } from "../json/malformed-json.ts";
import { UntrustedAnswer } from "../untrusted-answer.ts";
import { AttemptFailure, type Head, HeldBack } from "./attempt-failure.ts";
import type { Ask, Desk } from "./desk.ts";
import type { ExchangeHooks } from "./exchange.ts";
import { header } from "./headers.ts";
import type { StopSignal } from "./life.ts";
import type { Printable } from "./printable.ts";
import { askedToWait, isRetryableStatus, isThrottled, retryAfterMs, type Setback } from "./retry.ts";
import { type Answer, openAnswer } from "./transport.ts";

export type Attempt<T> =
  | { readonly kind: "answered"; readonly value: T }
  | { readonly kind: "failed"; readonly failure: AttemptFailure; readonly setback: Setback }
  /** Never sent: a pause began while it connected. */
  | { readonly kind: "held_back" };

/** An empty body is whole when its length was announced; else its end may have been lost. */
function isWhole({ headers }: Answer): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}

/** The failure that an error of the wire or of the parsers stands for; null for everybody else's. */
function asFailure(error: unknown, answer: Answer | null, printable: Printable): AttemptFailure | null {
  if (error instanceof AttemptFailure) return error;
  if (!(error instanceof MalformedJson || error instanceof UntrustedAnswer)) return null;
  const detail = printable(error.message, 400);
  const lost =
    error instanceof MalformedJson && error.truncated && !(error.empty && answer !== null && isWhole(answer));
  if (lost) return new AttemptFailure("truncated", "was cut short", { detail });
  return new AttemptFailure("untrusted", "answered 200 with what cannot be the service's answer", { detail });
}

/**
 * Heeds at once what an answer's head asks for: before its body, and before another request leaves. Returns the
 * Retry-After in milliseconds.
 */
function heed({ status, headers, sentAt }: Head, ask: Ask<unknown>, desk: Desk): number | null {
  if (!isRetryableStatus(status)) return null;
  const { congestion, pacer, pauses, limiter, pulse, counters } = desk;
  const now = performance.now();
  const asked = retryAfterMs(header(headers, "retry-after"), header(headers, "date"), Date.now());
  if (askedToWait({ kind: "status", status, retryAfterMs: asked, stale: false })) pulse.asked(now);
  const waitMs = asked !== null && asked <= desk.policy.maxRetryWaitMs ? asked : null;
  const reach = waitMs === null ? null : pauses.ask(ask.resource, waitMs, now);
  const isOneLibrary = reach === "resource" && status !== 429 && ask.operation !== "listing";
  if (isThrottled(status)) {
    counters.throttled++;
    congestion.cut(now);
    if (!isOneLibrary) pacer.throttled(sentAt, now, status);
  }
  if (waitMs === null) return asked;
  if (isOneLibrary) return asked;
  limiter.pauseUntil(now + waitMs);
  desk.onEvent({ kind: "throttled", operation: ask.operation, waitMs });
  return asked;
}

/** What an attempt does at the moment its request leaves, is answered, and ends; and what it has to remember of that. */
class Passage implements ExchangeHooks {
  private readonly desk: Desk;
  private readonly ask: Ask<unknown>;
  private readonly began = performance.now();
  private inFlight = true;
  /** Counted, and not yet written to a connection. */
  isWaiting = true;
  retryAfter: number | null = null;

  constructor(desk: Desk, ask: Ask<unknown>) {
    this.desk = desk;
    this.ask = ask;
  }

  mayLeave(): boolean {
    const { limiter, pauses } = this.desk;
    this.isWaiting = limiter.paused() || performance.now() < pauses.until(this.ask.resource);
    return !this.isWaiting;
  }

  onHead(head: Head): void {
    this.retryAfter = heed(head, this.ask, this.desk);
  }

  onEnd({ status, sentAt }: Head): void {
    if (status === 200) {
      this.desk.congestion.succeeded();
      this.desk.pacer.succeeded(sentAt, performance.now());
      this.desk.pulse.succeeded();
    }
    this.leave();
  }

  /** Makes room for the next, once. */
  leave(): void {
    if (this.inFlight) this.desk.limiter.leave();
    this.inFlight = false;
  }

  tell(outcome: string): void {
    const { operation } = this.ask;
    this.desk.onEvent({ kind: "request", operation, outcome, ms: performance.now() - this.began });
  }
}

/** One attempt at a GET, from its place in the queue to the last item read. */
export async function attempt<T>(desk: Desk, ask: Ask<T>, signal: StopSignal): Promise<Attempt<T>> {
  const { limiter, counters, transport } = desk;
  await limiter.enter(signal);
  const passage = new Passage(desk, ask);
  let answer: Answer | null = null;
  try {
    counters.requests++;
    answer = await openAnswer(transport, ask.path, passage, signal);
    const value = await ask.read(answer);
    passage.tell("2xx");
    return { kind: "answered", value };
  } catch (error) {
    if (error instanceof HeldBack) {
      counters.requests--;
      return { kind: "held_back" };
    }
    if (passage.isWaiting && signal.aborted) counters.requests--;
    const failure = asFailure(error, answer, transport.printable);
    if (failure === null) throw error;
    signal.throwIfAborted();
    const { kind, head, stale } = failure;
    passage.tell(head === null ? kind : `${Math.floor(head.status / 100)}xx`);
    const setback = { kind, status: head?.status ?? null, retryAfterMs: passage.retryAfter, stale };
    return { kind: "failed", failure, setback };
  } finally {
    counters.bytes += answer?.bytes() ?? 0;
    answer?.drop();
    passage.leave();
  }
}

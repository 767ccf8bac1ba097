import { MalformedJson } from "../json/malformed-json.ts";
import { UntrustedAnswer } from "../untrusted-answer.ts";
import { AttemptFailure, type Head, HeldBack } from "./attempt-failure.ts";
import type { Ask, Desk } from "./desk.ts";
import { header } from "./headers.ts";
import type { StopSignal } from "./life.ts";
import type { Printable } from "./printable.ts";
import { askedToWait, isRetryableStatus, retryAfterMs, type Setback } from "./retry.ts";
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

/** What an answer's head asks of everybody, heeded at once: before its body, and before anything else leaves. */
function heed({ status, headers }: Head, ask: Ask<unknown>, desk: Desk): number | null {
  const now = performance.now();
  if (status === 429 || status === 503) desk.congestion.cut(now);
  if (!isRetryableStatus(status)) return null;
  const asked = retryAfterMs(header(headers, "retry-after"), header(headers, "date"), Date.now());
  if (askedToWait({ kind: "status", status, retryAfterMs: asked, stale: false })) desk.pulse.asked(now);
  if (asked !== null && asked <= desk.policy.maxRetryWaitMs) {
    desk.limiter.pauseUntil(now + asked);
    desk.onEvent({ kind: "throttled", operation: ask.operation, waitMs: asked });
  }
  return asked;
}

/** One attempt at a GET, from its place in the queue to the last item read. */
export async function attempt<T>(desk: Desk, ask: Ask<T>, signal: StopSignal): Promise<Attempt<T>> {
  const { limiter, counters, transport } = desk;
  await limiter.enter(signal);
  const began = performance.now();
  let inFlight = true;
  /** Counted, and not yet written to a connection. */
  let isWaiting = false;
  let retryAfter: number | null = null;
  let answer: Answer | null = null;
  const leave = () => {
    if (inFlight) limiter.leave();
    inFlight = false;
  };
  const tell = (outcome: string) => {
    desk.onEvent({ kind: "request", operation: ask.operation, outcome, ms: performance.now() - began });
  };
  const hooks = {
    mayLeave() {
      isWaiting = limiter.paused();
      return !isWaiting;
    },
    onHead(head: Head) {
      retryAfter = heed(head, ask, desk);
    },
    onEnd({ status }: Head) {
      if (status === 200) {
        desk.congestion.succeeded();
        desk.pulse.succeeded();
      }
      leave();
    },
  };
  try {
    signal.throwIfAborted();
    counters.requests++;
    isWaiting = true;
    answer = await openAnswer(transport, ask.path, hooks, signal);
    const value = await ask.read(answer);
    tell("2xx");
    return { kind: "answered", value };
  } catch (error) {
    if (error instanceof HeldBack) {
      counters.requests--;
      return { kind: "held_back" };
    }
    if (isWaiting && signal.aborted) counters.requests--;
    const failure = asFailure(error, answer, transport.printable);
    if (failure === null) throw error;
    signal.throwIfAborted();
    const { kind, head, stale } = failure;
    tell(head === null ? kind : `${Math.floor(head.status / 100)}xx`);
    return {
      kind: "failed",
      failure,
      setback: { kind, status: head?.status ?? null, retryAfterMs: retryAfter, stale },
    };
  } finally {
    counters.bytes += answer?.bytes() ?? 0;
    answer?.drop();
    leave();
  }
}

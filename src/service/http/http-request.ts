import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Dispatcher } from "undici";
import { type StopSignal, startTimer } from "../../async.ts";
import { formatLimit } from "../../format.ts";
import {
  AttemptFailure,
  isRetryableStatus,
  isThrottled,
  networkFailure,
  type ResponseHead,
} from "./attempt-failure.ts";
import type { HttpContext } from "./http-context.ts";
import type { RequestTarget } from "./limiter.ts";
import { header, parseRetryAfter } from "./response.ts";

/** Most responses are smaller and are returned whole. A larger one is read in batches of about this size. */
const READ_BATCH_BYTES = 64 * 1024;
const DISCARDED = new Error("the request was discarded");

/**
 * One GET in a slot of the limiter, and undici's handler for it. It notifies the limiter at the moment of each event,
 * before another request can be sent. Its time runs only while the caller waits for bytes: parsing and storing do not
 * count. It uses `dispatcher.dispatch` because that is faster than `request` and can be cancelled while it connects. It is a
 * class because allocating its many closures for each request took longer.
 */
export class InFlightRequest implements Dispatcher.DispatchHandler {
  readonly #context: HttpContext;
  readonly #target: RequestTarget;
  readonly #signal: StopSignal;
  #remainingMs: number;
  /** The start, the timer and the end of the caller's wait in progress. */
  #waitingSince = 0;
  #timer: NodeJS.Timeout | undefined;
  #resolve: (() => void) | null = null;
  readonly #sentAt = performance.now();
  #controller: Dispatcher.DispatchController | null = null;
  /** Set by `SocketPauses`. */
  socket: Socket | null = null;
  /** Counted as a request, but not written to a connection yet. */
  isWaiting = true;
  /** The Retry-After of the response, in milliseconds; null if there was none. */
  retryAfterMs: number | null = null;
  #holdsSlot = true;
  #isPaused = false;
  #received: ResponseHead | null = null;
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;
  /** The last byte has arrived. */
  #isComplete = false;
  #failure: { readonly reason: unknown } | null = null;

  /** The caller has acquired the slot. `discard` must follow. */
  constructor(context: HttpContext, target: RequestTarget, signal: StopSignal) {
    const { pool, origin, headers, requestTimeoutMs } = context;
    this.#context = context;
    this.#target = target;
    this.#signal = signal;
    this.#remainingMs = requestTimeoutMs;
    signal.addEventListener("abort", this.#onAbort);
    if (signal.aborted) this.#onAbort();
    else pool.dispatcher.dispatch({ origin, path: target.path, method: "GET", headers }, this);
  }

  /** Resolves with the head even if the body failed meanwhile, because the status says more. */
  async head(): Promise<ResponseHead> {
    while (this.#failure === null && this.#received === null) await this.#wait();
    if (this.#received !== null) return this.#received;
    throw this.#failure?.reason;
  }

  /** The bytes since the last call: at least `READ_BATCH_BYTES` or the rest of the body; null after the end. */
  async read(): Promise<Buffer | null> {
    while (this.#failure === null && !this.#isComplete && this.#bufferedBytes < READ_BATCH_BYTES) {
      await this.#wait();
    }
    if (this.#failure !== null) throw this.#failure.reason;
    const chunks = this.#chunks;
    const bytes = this.#bufferedBytes;
    if (chunks[0] === undefined) return null;
    this.#chunks = [];
    this.#bufferedBytes = 0;
    if (this.#isPaused) {
      // Set first, because `resume` may deliver bytes that pause it again.
      this.#isPaused = false;
      this.#context.pauses.resume(this);
    }
    return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, bytes);
  }

  /** True if the whole body has arrived and was read. */
  isFullyRead(): boolean {
    return this.#isComplete && this.#bufferedBytes === 0;
  }

  shortenDeadline(ms: number): void {
    this.#remainingMs = Math.min(this.#remainingMs, ms);
  }

  /** Cancels the request and closes its connection, unless the whole response has arrived. Releases the slot. */
  discard(): void {
    this.#fail(DISCARDED);
    this.#releaseSlot();
  }

  #releaseSlot(): void {
    if (this.#holdsSlot) this.#context.limiter.release();
    this.#holdsSlot = false;
  }

  readonly #onAbort = () => this.#fail(this.#signal.reason);

  #finish(): void {
    if (this.#isPaused) this.#context.pauses.release(this);
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#wake();
  }

  /** Resolves at the next `#wake`. The time of the request runs only meanwhile. */
  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#waitingSince = performance.now();
      this.#resolve = resolve;
      const expire = () => {
        if (this.#resolve !== resolve) return;
        const { pool, requestTimeoutMs } = this.#context;
        const detail = `no complete answer within ${formatLimit(requestTimeoutMs)}`;
        const proxy = this.#controller === null ? pool.proxyVariable() : null;
        const hint = proxy === null ? "" : `the proxy did not connect to the service; check ${proxy}`;
        this.#fail(new AttemptFailure("timeout", "timed out", { detail, hint }));
      };
      // A busy process runs a late timer before it reads bytes that arrived long ago: read the sockets once more.
      this.#timer = startTimer(() => setImmediate(expire), this.#remainingMs);
    });
  }

  /** Defers the parsing of a good response. A failure is thrown at once, because it may cancel unsent requests. */
  #wake(): void {
    const resolve = this.#resolve;
    if (resolve === null) return;
    this.#resolve = null;
    clearTimeout(this.#timer);
    this.#remainingMs -= performance.now() - this.#waitingSince;
    if (this.#failure === null && this.#received?.status === 200) deferParsing(resolve);
    else resolve();
  }

  #fail(reason: unknown): void {
    if (this.#failure !== null || this.#isComplete) return;
    this.#failure = { reason };
    this.#controller?.abort(DISCARDED);
    this.#finish();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#failure !== null) controller.abort(DISCARDED);
    else if (this.#context.limiter.isPaused(this.#target))
      this.#fail(new AttemptFailure("deferred", "was not sent: the service asked for a pause"));
    else {
      this.isWaiting = false;
      this.#context.pauses.findSocket(this);
    }
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#received = { status, headers, sentAt: this.#sentAt };
    this.retryAfterMs = applyThrottling(this.#received, this.#target, this.#context);
    this.#wake();
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (this.#bufferedBytes < READ_BATCH_BYTES) return;
    this.#isPaused = true;
    this.#context.pauses.pause(this);
    this.#wake();
  }

  onResponseEnd(): void {
    if (this.#failure !== null || this.#received === null) return;
    this.#isComplete = true;
    // The connection is free.
    if (this.#received.status === 200) this.#context.limiter.onSuccess(this.#sentAt);
    this.#releaseSlot();
    this.#finish();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(networkFailure(error, this.#received !== null, this.#context.quote) ?? error);
  }
}

/** Applies the throttling that a response's head asks for. Returns the Retry-After in milliseconds. */
function applyThrottling(head: ResponseHead, target: RequestTarget, { limiter, maxRetryWaitMs, onEvent }: HttpContext) {
  const { status, headers } = head;
  if (!isRetryableStatus(status)) return null;
  const retryAfterMs = parseRetryAfter(header(headers, "retry-after"), header(headers, "date"), Date.now());
  if (retryAfterMs === null && !isThrottled(status)) return null;
  const waitMs = retryAfterMs !== null && retryAfterMs <= maxRetryWaitMs ? retryAfterMs : null;
  const pausesAll = limiter.onThrottled(target, head, waitMs);
  if (pausesAll && waitMs !== null) onEvent({ kind: "throttled", operation: target.operation, waitMs });
  return retryAfterMs;
}

/** undici sends the next request of a connection in the second turn of the event loop after a response. */
const PARSE_AFTER_TURNS = 3;

/** One queue for all clients, because a process has one event loop. */
let waiting: (() => void)[] = [];

/**
 * Defers the parsing of a response until all readable sockets are read and idle connections have their next requests,
 * because parsing at once would delay both. Responses that arrive meanwhile share the turns.
 */
function deferParsing(parse: () => void): void {
  if (waiting.length === 0) parseAfter(PARSE_AFTER_TURNS);
  waiting.push(parse);
}

function parseAfter(turns: number): void {
  setImmediate(turns === 1 ? parseDeferred : () => parseAfter(turns - 1));
}

/** Starts all deferred parsing now. */
export function parseDeferred(): void {
  const due = waiting;
  waiting = [];
  for (const parse of due) parse();
}

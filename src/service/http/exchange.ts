import type { Dispatcher } from "undici";
import { sayDuration } from "../amounts.ts";
import { AttemptFailure, type Head, HeldBack } from "./attempt-failure.ts";
import { startDeadline } from "./deadline.ts";
import type { StopSignal } from "./life.ts";
import type { Line } from "./line.ts";
import { networkFailure } from "./network-failure.ts";
import type { Printable } from "./printable.ts";

/** What every request to the service has in common. */
export interface Caller {
  readonly line: Line;
  readonly origin: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly timeoutMs: number;
  readonly printable: Printable;
}

/** Called the moment it happens, before anything else can leave. */
export interface ExchangeHooks {
  /** Asked when the connection is there and the request would be written; false calls it back. */
  mayLeave(): boolean;
  onHead(head: Head): void;
  /** The last byte has come: the connection is free. */
  onEnd(head: Head): void;
}

/** One GET on the wire. Its time runs only while somebody waits for it: what we do in between does not count. */
export interface Exchange {
  head(): Promise<Head>;
  /** The bytes that came since the last call, at least `BATCH` of them or the rest; null behind the end. */
  read(): Promise<Buffer | null>;
  /** When the last byte came; null before. */
  endedAt(): number | null;
  /** Leaves it at most that much more time. */
  hurry(ms: number): void;
  /** Gives it up, and its connection, unless all of it has come. */
  drop(): void;
}

/** Small answers, most of them, are handed over whole; of a large one, no more than this is held. */
const BATCH = 64 * 1024;
const GIVEN_UP = new Error("given up");

/** `pool.dispatch` rather than `pool.request`: 41 µs instead of 50, and it can be given up while it still connects. */
export function startExchange(caller: Caller, path: string, hooks: ExchangeHooks, signal: StopSignal): Exchange {
  const { line, origin, headers, printable } = caller;
  const sentAt = performance.now();
  let controller: Dispatcher.DispatchController | null = null;
  let reusedConnection = false;
  let head: Head | null = null;
  let chunks: Buffer[] = [];
  let size = 0;
  let endedAt: number | null = null;
  let failure: { readonly reason: unknown } | null = null;
  const deadline = startDeadline(caller.timeoutMs, () => {
    const detail = `no complete answer within ${sayDuration(caller.timeoutMs)}`;
    fail(new AttemptFailure("timeout", "timed out", { detail }));
  });

  function settle(): void {
    signal.removeEventListener("abort", onAbort);
    deadline.wake();
  }
  function fail(reason: unknown): void {
    if (failure !== null || endedAt !== null) return;
    failure = { reason };
    controller?.abort(GIVEN_UP);
    settle();
  }
  function onAbort(): void {
    fail(signal.reason);
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      reusedConnection = line.reused();
      if (failure !== null) started.abort(GIVEN_UP);
      else if (!hooks.mayLeave()) fail(new HeldBack());
    },
    onResponseStart(_, status, headers) {
      if (status < 200) return;
      head = { status, headers, sentAt };
      hooks.onHead(head);
      deadline.wake();
    },
    onResponseData(current, chunk) {
      chunks.push(chunk);
      size += chunk.length;
      if (size < BATCH) return;
      current.pause();
      deadline.wake();
    },
    onResponseEnd() {
      if (failure !== null || head === null) return;
      endedAt = performance.now();
      hooks.onEnd(head);
      settle();
    },
    onResponseError(_, error) {
      const moment = { answerBegan: head !== null, reusedConnection };
      fail(networkFailure(error, moment, printable) ?? error);
    },
  };

  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  else line.dispatcher.dispatch({ origin, path, method: "GET", headers }, handler);

  return {
    async head() {
      while (failure === null && head === null) await deadline.wait();
      if (failure !== null) throw failure.reason;
      if (head === null) throw new Error("an exchange without a head");
      return head;
    },
    async read() {
      while (failure === null && endedAt === null && size < BATCH) await deadline.wait();
      if (failure !== null) throw failure.reason;
      const batch = chunks[0] === undefined ? null : chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size);
      chunks = [];
      size = 0;
      controller?.resume();
      return batch;
    },
    endedAt: () => endedAt,
    hurry: deadline.hurry,
    drop: () => fail(GIVEN_UP),
  };
}

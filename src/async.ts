/** The part of an AbortSignal that waiting needs. Every AbortSignal has it. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Node.js fires a timer with a longer delay at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Resolves after `ms` milliseconds. Rejects with the signal's reason as soon as the signal is aborted. */
export function sleep(ms: number, signal: StopSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = setTimeout(() => finish(resolve), Math.min(Math.ceil(ms), MAX_TIMER_MS));
    const onAbort = () => finish(() => reject(signal.reason));
    signal.addEventListener("abort", onAbort);
    function finish(settle: () => void): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      settle();
    }
  });
}

/** Resolves when the signal is aborted. Does not keep the process alive. */
export function aborted(signal: StopSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const onAbort = () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    };
    signal.addEventListener("abort", onAbort);
  });
}

/** Settles like `work`, but rejects with the signal's reason as soon as the signal is aborted. */
export async function unlessAborted<T>(work: Promise<T>, signal: StopSignal): Promise<T> {
  let onAbort = () => {};
  const stopped = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    work.catch(() => {});
    signal.removeEventListener("abort", onAbort);
  }
}

/** Settles like `work`, but resolves with "timeout" if that takes longer than `ms`. */
export async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | "timeout"> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<"timeout">((resolve) => {
    timer = setTimeout(() => resolve("timeout"), Math.min(ms, MAX_TIMER_MS));
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Calls `work` for each item, in order, `concurrency` at once. After an error it begins no other item.
 * @throws the first error, after everything that was begun has ended
 */
export async function forEachConcurrently<T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const errors: unknown[] = [];
  const worker = async () => {
    for (let next = queue.next(); !next.done && errors.length === 0; next = queue.next()) {
      await work(next.value).catch((error) => errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (errors.length > 0) throw errors[0];
}

/**
 * Calls `check` until it returns a value other than null, at intervals that grow from 5 to 100 ms.
 * @returns that value, or null after `timeoutMs`
 */
export async function poll<T>(
  check: () => T | null | Promise<T | null>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<T | null> {
  const end = performance.now() + timeoutMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.5, 100)) {
    signal.throwIfAborted();
    const result = await check();
    if (result !== null) return result;
    if (performance.now() > end) return null;
    await sleep(pauseMs, signal);
  }
}

interface Offer<T> {
  readonly value: T;
  readonly settle: () => void;
}

/** Hands values from concurrent producers to one consumer, in the order in which they were offered. */
export class Channel<T> implements AsyncIterable<T> {
  readonly #offers: Offer<T>[] = [];
  #end: { readonly error: unknown } | null = null;
  #isAbandoned = false;
  #wake = () => {};

  /** Resolves when the consumer takes the value or stops iterating. Never rejects. */
  push(value: T): Promise<void> {
    if (this.#isAbandoned) return Promise.resolve();
    return new Promise((settle) => {
      this.#offers.push({ value, settle });
      this.#wake();
    });
  }

  /** True after the consumer has stopped iterating, at its end or before. */
  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** Ends the iteration after the values that were offered; with an `error` other than null by throwing it. */
  close(error: unknown = null): void {
    this.#end ??= { error };
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    try {
      for (;;) {
        const offer = this.#offers.shift();
        if (offer !== undefined) {
          offer.settle();
          yield offer.value;
        } else if (this.#end !== null) {
          if (this.#end.error !== null) throw this.#end.error;
          return;
        } else {
          await new Promise<void>((wake) => {
            this.#wake = wake;
          });
        }
      }
    } finally {
      this.#isAbandoned = true;
      for (const { settle } of this.#offers) settle();
    }
  }
}

/** The part of an AbortSignal that waiting needs. Every AbortSignal has it. */
export interface StopSignal extends Pick<AbortSignal, "aborted" | "throwIfAborted"> {
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Limits the delay: `setTimeout` ignores a longer one, and warns of a negative one on standard error. */
export const startTimer = (callback: () => void, ms: number) =>
  setTimeout(callback, Math.max(0, Math.min(ms, MAX_TIMER_MS)));

/** Resolves after `ms` milliseconds. Rejects with the signal's reason as soon as the signal is aborted. */
export async function sleep(ms: number, signal: StopSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = startTimer(resolve, Math.ceil(ms));
  });
  await unlessAborted(elapsed, signal).finally(() => clearTimeout(timer));
}

/** Resolves when the signal is aborted. Keeps the process alive until then. */
export async function aborted(signal: StopSignal): Promise<void> {
  while (!signal.aborted) await sleep(MAX_TIMER_MS, signal).catch(() => {});
}

/** Settles like `work`, but rejects with the signal's reason as soon as the signal is aborted. */
export async function unlessAborted<T>(work: Promise<T>, signal: StopSignal): Promise<T> {
  let onAbort = () => {};
  const stopped = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort);
  });
  return Promise.race([work, stopped]).finally(() => signal.removeEventListener("abort", onAbort));
}

/** Settles like `work`, but resolves with "timeout" if that takes longer than `ms`. */
export async function withTimeout<T>(work: Promise<T>, ms: number): Promise<T | "timeout"> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<"timeout">((resolve) => {
    timer = startTimer(() => resolve("timeout"), ms);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/**
 * Calls `work` for each item, `concurrency` at once, and yields the results as they become ready. Another item is begun when
 * a result is taken. After an error no other item is begun. If the consumer stops early, `stop` is aborted.
 * @throws the first error, after everything that was begun has ended and its results were yielded
 */
export async function* concurrently<T, Result>(
  items: Iterable<T> | AsyncIterable<T>,
  concurrency: number,
  work: (item: T) => Promise<Result>,
  stop?: AbortController,
): AsyncGenerator<Result, void, void> {
  const queue = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  const ready: Result[] = [];
  const errors: unknown[] = [];
  let running = 0;
  let wake = () => {};
  const begin = async () => {
    running += 1;
    try {
      const next = errors.length > 0 ? null : await queue.next();
      if (next !== null && !next.done && errors.length === 0) ready.push(await work(next.value));
    } catch (error) {
      errors.push(error);
    }
    running -= 1;
    wake();
  };
  const untilReady = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  let isAtEnd = false;
  try {
    for (let count = 0; count < concurrency; count += 1) void begin();
    while (running + ready.length > 0) {
      if (ready.length === 0) await untilReady();
      for (const result of ready.splice(0, 1)) {
        void begin();
        yield result;
      }
    }
    isAtEnd = true;
  } finally {
    if (!isAtEnd) stop?.abort(new Error("the results are not needed any more"));
    while (running > 0) await untilReady();
  }
  if (errors.length > 0) throw errors[0];
}

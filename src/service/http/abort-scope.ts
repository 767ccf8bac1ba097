import type { StopSignal } from "../../async.ts";

/**
 * The signal of one call, which the call itself can abort. It replaces an AbortController, which costs 8 µs and 10 µs
 * more for its listeners: half as much as parsing a library.
 */
export class AbortScope implements StopSignal {
  readonly #listeners = new Set<() => void>();
  #abortion: { readonly reason: unknown } | null = null;

  get aborted(): boolean {
    return this.#abortion !== null;
  }

  get reason(): unknown {
    return this.#abortion?.reason;
  }

  throwIfAborted(): void {
    if (this.#abortion !== null) throw this.#abortion.reason;
  }

  addEventListener(_: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /** Aborts once: a second reason is ignored. */
  abort(reason: unknown): void {
    if (this.#abortion !== null) return;
    this.#abortion = { reason };
    for (const listener of this.#listeners) listener();
  }
}

/** The calls in progress of one client. */
interface AbortScopes {
  /**
   * Runs `work` in its own scope. Rejects with the signal's reason on abort, except that a response that has been
   * received completely is still parsed.
   */
  runScoped<T>(signal: AbortSignal, work: (scope: AbortScope) => Promise<T>): Promise<T>;
  /** Aborts every call in progress and rejects later ones. */
  abortAll(reason: Error): void;
}

type Abort = (reason: unknown) => void;

/** `flushDeferred` starts the deferred parsing of received responses. */
export function createAbortScopes(flushDeferred: () => void): AbortScopes {
  /** One listener for all calls of a signal, because Node warns of a leak from the eleventh on. */
  const watched = new Map<AbortSignal, { readonly aborts: Set<Abort>; readonly unwatch: () => void }>();
  let closed: Error | null = null;

  function watch(signal: AbortSignal) {
    const aborts = new Set<Abort>();
    const onAbort = () => {
      flushDeferred();
      setImmediate(() => {
        for (const abort of aborts) abort(signal.reason);
      });
    };
    const unwatch = () => {
      signal.removeEventListener("abort", onAbort);
      watched.delete(signal);
    };
    signal.addEventListener("abort", onAbort);
    const entry = { aborts, unwatch };
    watched.set(signal, entry);
    return entry;
  }

  function runScoped<T>(signal: AbortSignal, work: (scope: AbortScope) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (closed !== null) throw closed;
      const scope = new AbortScope();
      const { aborts, unwatch } = watched.get(signal) ?? watch(signal);
      const forget = () => {
        aborts.delete(abort);
        if (aborts.size === 0) unwatch();
      };
      const abort = (reason: unknown) => {
        scope.abort(reason);
        forget();
        reject(reason);
      };
      aborts.add(abort);
      work(scope).then(
        (value) => {
          forget();
          resolve(value);
        },
        (error) => {
          forget();
          reject(error);
        },
      );
    });
  }

  return {
    runScoped,
    abortAll(reason) {
      closed = reason;
      for (const { aborts } of watched.values()) for (const abort of aborts) abort(reason);
    },
  };
}

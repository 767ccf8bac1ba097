import { setMaxListeners } from "node:events";
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

/** `flushDeferred` starts the deferred parsing of received responses. */
export function createAbortScopes(flushDeferred: () => void): AbortScopes {
  const aborts = new Set<(reason: unknown) => void>();
  let closed: Error | null = null;

  function runScoped<T>(signal: AbortSignal, work: (scope: AbortScope) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (closed !== null) throw closed;
      const scope = new AbortScope();
      const forget = () => {
        aborts.delete(abort);
        signal.removeEventListener("abort", onAbort);
      };
      const abort = (reason: unknown) => {
        forget();
        scope.abort(reason);
        reject(reason);
      };
      const onAbort = () => {
        flushDeferred();
        setImmediate(() => abort(signal.reason));
      };
      aborts.add(abort);
      setMaxListeners(0, signal);
      signal.addEventListener("abort", onAbort);
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
      for (const abort of aborts) abort(reason);
    },
  };
}

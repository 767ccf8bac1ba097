/** As much of an AbortSignal as waiting takes: every AbortSignal is one. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** The signal of one call, which the call itself can end. */
export interface Life extends StopSignal {
  /** Once: the first reason stands. */
  end(reason: unknown): void;
}

/** In place of an AbortController, which takes 8 µs, and 10 more for its listeners: as much as half a library's parsing. */
export function openLife(): Life {
  const listeners = new Set<() => void>();
  let ended: { readonly reason: unknown } | null = null;
  return {
    get aborted() {
      return ended !== null;
    },
    get reason() {
      return ended?.reason;
    },
    throwIfAborted() {
      if (ended !== null) throw ended.reason;
    },
    addEventListener(_, listener) {
      listeners.add(listener);
    },
    removeEventListener(_, listener) {
      listeners.delete(listener);
    },
    end(reason) {
      if (ended !== null) return;
      ended = { reason };
      for (const listener of listeners) listener();
    },
  };
}

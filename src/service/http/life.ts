/** As much of an AbortSignal as waiting takes: every AbortSignal is one. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * The signal of one call, which the call itself can end. In place of an AbortController, which takes 8 µs, and 10 more for
 * its listeners: as much as half a library's parsing.
 */
export class Life implements StopSignal {
  private readonly listeners = new Set<() => void>();
  private ended: { readonly reason: unknown } | null = null;

  get aborted(): boolean {
    return this.ended !== null;
  }

  get reason(): unknown {
    return this.ended?.reason;
  }

  throwIfAborted(): void {
    if (this.ended !== null) throw this.ended.reason;
  }

  addEventListener(_: "abort", listener: () => void): void {
    this.listeners.add(listener);
  }

  removeEventListener(_: "abort", listener: () => void): void {
    this.listeners.delete(listener);
  }

  /** Once: the first reason stands. */
  end(reason: unknown): void {
    if (this.ended !== null) return;
    this.ended = { reason };
    for (const listener of this.listeners) listener();
  }
}

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

const MAX_KEPT_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(0);

/**
 * Collects bytes until the rest arrives. It copies them, because the sender may reuse its buffer, and doubles its size, so
 * that a thousand small pieces cost no more than one large one.
 */
export class GrowableBuffer {
  #buffer = EMPTY;
  length = 0;

  add(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(1024, 2 * this.#buffer.length, this.length + bytes.length));
      this.#buffer.copy(larger, 0, 0, this.length);
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Removes and returns all bytes. They are valid until the next call. */
  consume(): Buffer {
    const bytes = this.#buffer.subarray(0, this.length);
    if (this.#buffer.length > MAX_KEPT_BYTES) this.#buffer = EMPTY;
    this.length = 0;
    return bytes;
  }
}

const KEPT = 64 * 1024;
const NONE = Buffer.alloc(0);

/**
 * Bytes that wait for more: copied, because the sender may use its buffer again, into one that doubles, so that
 * a thousand drips cost no more than one gush.
 */
export class HeldBytes {
  private buffer = NONE;
  length = 0;

  add(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(1024, 2 * this.buffer.length, this.length + bytes.length));
      this.buffer.copy(larger, 0, 0, this.length);
      this.buffer = larger;
    }
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** All bytes held, valid until the next call; holds nothing afterwards. */
  take(): Buffer {
    const taken = this.buffer.subarray(0, this.length);
    if (this.buffer.length > KEPT) this.buffer = NONE;
    this.length = 0;
    return taken;
  }
}

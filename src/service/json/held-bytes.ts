const KEPT = 64 * 1024;
const NONE = Buffer.alloc(0);

interface HeldBytes {
  readonly length: number;
  add(bytes: Uint8Array): void;
  /** All bytes held, valid until the next call; holds nothing afterwards. */
  take(): Buffer;
}

/**
 * Bytes that wait for more: copied, because the sender may use its buffer again, into one that doubles, so that
 * a thousand drips cost no more than one gush.
 */
export function holdBytes(): HeldBytes {
  let buffer = NONE;
  let length = 0;

  function add(bytes: Uint8Array): void {
    if (length + bytes.length > buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(1024, 2 * buffer.length, length + bytes.length));
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
    buffer.set(bytes, length);
    length += bytes.length;
  }

  function take(): Buffer {
    const taken = buffer.subarray(0, length);
    if (buffer.length > KEPT) buffer = NONE;
    length = 0;
    return taken;
  }

  return {
    get length() {
      return length;
    },
    add,
    take,
  };
}

import { constants, isUtf8 } from "node:buffer";
import { MalformedJson } from "./parse-errors.ts";

/** The length of the sequence that a lead byte starts; 1 for any other byte. */
function sequenceLength(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1;
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/** The offset of the first byte that is not well-formed UTF-8; -1 if there is none. */
export function firstBadByte(bytes: Uint8Array): number {
  if (isUtf8(bytes)) return -1;
  let offset = 0;
  while (offset < bytes.length) {
    const length = sequenceLength(bytes[offset] ?? 0);
    if (!isUtf8(bytes.subarray(offset, offset + length))) return offset;
    offset += length;
  }
  return -1;
}

/** True if the bytes are only wrong in that they end within the sequence at `bad`. */
export function isCutSequence(bytes: Uint8Array, bad: number): boolean {
  if (bad === -1 || bytes.length - bad >= sequenceLength(bytes[bad] ?? 0)) return false;
  return bytes.subarray(bad + 1).every((byte) => (byte & 0xc0) === 0x80);
}

/** Decodes strictly: throws MalformedJson with the position, counted from `offset`, and never inserts U+FFFD. */
export function decodeUtf8(bytes: Buffer, offset: number): string {
  if (!isUtf8(bytes)) throw new MalformedJson(`not UTF-8 at byte ${offset + firstBadByte(bytes)}`);
  if (bytes.length > constants.MAX_STRING_LENGTH) throw new MalformedJson(`one item of ${bytes.length} bytes`);
  return bytes.toString("utf8");
}

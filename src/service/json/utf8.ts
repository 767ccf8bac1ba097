import { constants, isUtf8 } from "node:buffer";
import { MalformedJson } from "./malformed-json.ts";

/** Length of the sequence that a lead byte announces; 1 for what is no lead byte. */
function announced(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1;
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/** Offset of the first byte that is no part of well-formed UTF-8; -1 when there is none. */
export function firstBadByte(bytes: Uint8Array): number {
  if (isUtf8(bytes)) return -1;
  let at = 0;
  while (at < bytes.length) {
    const length = announced(bytes[at] ?? 0);
    if (!isUtf8(bytes.subarray(at, at + length))) return at;
    at += length;
  }
  return -1;
}

/** Whether what is wrong at `bad` is only that the bytes end within a sequence. */
export function isCutSequence(bytes: Uint8Array, bad: number): boolean {
  if (bad === -1 || bytes.length - bad >= announced(bytes[bad] ?? 0)) return false;
  return bytes.subarray(bad + 1).every((byte) => (byte & 0xc0) === 0x80);
}

/** Strict, where a TextDecoder would put replacement characters: throws MalformedJson, counting bytes from `offset`. */
export function decodeUtf8(bytes: Buffer, offset: number): string {
  if (!isUtf8(bytes)) throw new MalformedJson(`not UTF-8 at byte ${offset + firstBadByte(bytes)}`);
  if (bytes.length > constants.MAX_STRING_LENGTH) throw new MalformedJson(`one item of ${bytes.length} bytes`);
  return bytes.toString("utf8");
}

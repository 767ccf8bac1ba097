import { constants, isUtf8 } from "node:buffer";
import { MalformedJson } from "./parse-errors.ts";

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;

/** Deeper nesting is rejected, because code that recurses over JSON could overflow its stack. */
export const MAX_DEPTH = 500;

/** `byte`: a byte of UTF-8 or a UTF-16 code unit. */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Returns the index after the string that opens at `open`, in text that `JSON.parse` accepts. */
export function endOfString(source: string, open: number): number {
  let i = open + 1;
  while (i < source.length && source.charCodeAt(i) !== QUOTE) i += source.charCodeAt(i) === BACKSLASH ? 2 : 1;
  return i + 1;
}

/** True if the text has at least this number of opening brackets, in strings or not. */
function hasOpeningBrackets(count: number, source: string): boolean {
  let found = 0;
  for (const bracket of ["{", "["]) {
    for (let i = source.indexOf(bracket); i !== -1; i = source.indexOf(bracket, i + 1)) {
      if (++found === count) return true;
    }
  }
  return false;
}

/** True if the text nests deeper than `limit` objects and lists. */
export function isDeeperThan(limit: number, source: string): boolean {
  if (source.length <= 2 * limit || !hasOpeningBrackets(limit + 1, source)) return false;
  let depth = 0;
  let i = 0;
  while (i < source.length) {
    const code = source.charCodeAt(i);
    if (code === QUOTE) {
      i = endOfString(source, i);
      continue;
    }
    // `[` and `{` differ only in this one bit, as do `]` and `}`.
    if ((code | 0x20) === 0x7b) depth++;
    else if ((code | 0x20) === 0x7d) depth--;
    if (depth > limit) return true;
    i++;
  }
  return false;
}

/** Digits that Postgres' `numeric`, and so jsonb, can hold before and after the point. */
export const MAX_DIGITS_BEFORE = 131_072;
export const MAX_DIGITS_AFTER = 16_383;
const MAX_EXPONENT = 1_073_741_822;

/** A numeral with fewer characters, its point included, is exact as a double. */
const MIN_INEXACT_CHARS = 16;
const LARGE_EXPONENT = /\d[eE][+-]?\d{3}/;
const NUMERAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

function isDigitOrPoint(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x30 && byte <= 0x39) || byte === 0x2e);
}

/** Looks at one byte in sixteen, and around it if it is part of a numeral: a sixth of the time of a regular expression. */
function hasLongNumeral(bytes: Uint8Array): boolean {
  for (let index = MIN_INEXACT_CHARS - 1; index < bytes.length; index += MIN_INEXACT_CHARS) {
    if (!isDigitOrPoint(bytes[index])) continue;
    let start = index;
    while (isDigitOrPoint(bytes[start - 1])) start--;
    let end = index + 1;
    while (isDigitOrPoint(bytes[end])) end++;
    if (end - start >= MIN_INEXACT_CHARS) return true;
  }
  return false;
}

/** True if `JSON.parse` may round a number of this text. Strings with many digits give a false alarm. */
export function mayLoseDigits(source: string, bytes: Uint8Array = Buffer.from(source)): boolean {
  return LARGE_EXPONENT.test(source) || hasLongNumeral(bytes);
}

/** True if the text is long enough for, or has an exponent of, a number that `numeric` cannot hold. */
export function mayExceedNumeric(source: string): boolean {
  return source.length > MAX_DIGITS_AFTER || LARGE_EXPONENT.test(source);
}

/** True if Postgres' `numeric` can hold the number. */
export function fitsNumeric(numeral: string): boolean {
  const match = NUMERAL.exec(numeral);
  if (match === null) return false;
  const [, , whole = "", fraction = "", power = "0"] = match;
  const exponent = Number(power);
  if (Math.abs(exponent) > MAX_EXPONENT) return false;
  if (fraction.length - exponent > MAX_DIGITS_AFTER) return false;
  const digits = whole + fraction;
  let first = 0;
  while (digits[first] === "0") first++;
  return first === digits.length || whole.length - first + exponent <= MAX_DIGITS_BEFORE;
}

/** The exact number of a JSON numeral, the same for all of its spellings: `digits` × 10 ^ `exponent`. */
export class Decimal {
  /** With a minus sign if negative, without zeros at either end; empty for zero. */
  readonly digits: string;
  /** Exact up to 2^53. No number with an exponent beyond a billion can be stored. */
  readonly exponent: number;

  constructor(numeral: string) {
    const [, sign = "", whole = "", fraction = "", power = "0"] = NUMERAL.exec(numeral) ?? [];
    const digits = whole + fraction;
    let first = 0;
    let end = digits.length;
    while (digits[first] === "0") first++;
    while (end > first && digits[end - 1] === "0") end--;
    this.digits = first === end ? "" : sign + digits.slice(first, end);
    this.exponent = first === end ? 0 : Number(power) + whole.length - end;
  }
}

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

import { LosslessNumber, parse } from "lossless-json";
import { emptyLongStrings } from "./json-text.ts";

/** A numeral of fewer characters, its point among them, is exact as a double. */
const LONG = 16;
const LARGE_EXPONENT = /\d[eE][+-]?\d{3}/;

function isOfNumeral(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x30 && byte <= 0x39) || byte === 0x2e);
}

/** Looks at one byte in sixteen, and around it where it is of a numeral: a sixth of what a regular expression takes. */
function hasLongNumeral(bytes: Uint8Array): boolean {
  for (let at = LONG - 1; at < bytes.length; at += LONG) {
    if (!isOfNumeral(bytes[at])) continue;
    let first = at;
    while (isOfNumeral(bytes[first - 1])) first--;
    let behind = at + 1;
    while (isOfNumeral(bytes[behind])) behind++;
    if (behind - first >= LONG) return true;
  }
  return false;
}

/** Whether a double may stand for another number than the numeral it was read from. Strings can make it true for nothing. */
export function mayLoseDigits(source: string, bytes: Uint8Array = Buffer.from(source)): boolean {
  return LARGE_EXPONENT.test(source) || hasLongNumeral(bytes);
}

/** Whether a safe integer may have been read from a numeral with a fraction. Asks for a point first, which is cheap. */
export function mayRoundToInteger(source: string): boolean {
  return LARGE_EXPONENT.test(source) || (source.includes(".") && hasLongNumeral(Buffer.from(source)));
}

/**
 * Text that `JSON.parse` accepts, with its numerals as `LosslessNumber` and its long strings emptied: those cost the
 * parser 40 bytes a character. `onNumeral` sees every numeral, even under a key that a later one overrides.
 */
export function parseNumerals(source: string, onNumeral: (numeral: string) => void = () => {}): unknown {
  return parse(emptyLongStrings(source), undefined, {
    parseNumber: (numeral) => {
      onNumeral(numeral);
      return new LosslessNumber(numeral);
    },
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

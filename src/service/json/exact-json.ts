import { LosslessNumber, parse } from "lossless-json";
import { emptyLongStrings } from "./json-text.ts";

const LONG_NUMERAL = /\d[\d.]{15}/;
const LARGE_EXPONENT = /\d[eE][+-]?\d{3}/;

/** Whether a double may stand for another number than the numeral it was read from. Strings can make it true for nothing. */
export function mayLoseDigits(source: string): boolean {
  return LARGE_EXPONENT.test(source) || LONG_NUMERAL.test(source);
}

/** Whether a safe integer may have been read from a numeral with a fraction. Asks for a point first, which is cheap. */
export function mayRoundToInteger(source: string): boolean {
  return LARGE_EXPONENT.test(source) || (source.includes(".") && LONG_NUMERAL.test(source));
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

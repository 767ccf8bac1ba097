import { isDeepStrictEqual } from "node:util";
import type { ItemError } from "./item-checks.ts";

/*
 * The JSON that Postgres can store, and its exact numbers. `findUnstorable` promises that Postgres accepts an item without an error as
 * text and jsonb, `parseExact` that it rounds no number, and `jsonEqual` that it compares as jsonb does. A reader who believes that may
 * skip the file. `isPlainText` and the first look at each text only save time: a false alarm costs a closer look.
 */

const NUL = "\u0000";

/** True if JSON text, of one item or of many, has no escape `\u`, and no number that `JSON.parse` may round. */
export function isPlainText(text: string): boolean {
  return !text.includes("\\u") && !mayLoseDigits(text);
}

/** Why the item cannot be stored as text and jsonb; null for nearly all items. `value` is the parsed `source`. */
export function findUnstorable(source: string, value: unknown, isPlain = false): ItemError | null {
  if (isTooDeep(source)) {
    return { code: "too_deep", path: "", reason: `the item nests deeper than ${MAX_DEPTH} levels` };
  }
  if (isPlain) return null;
  if (BAD_ESCAPE.test(source)) {
    return errorAt("bad_text", findBadText(value), "a NUL or half of a surrogate pair");
  }
  // Only a long text or a large exponent can hold a number that `numeric` cannot.
  return source.length > MAX_DIGITS_AFTER || LARGE_EXPONENT.test(source) ? findWideNumber(source) : null;
}

/** True if Postgres cannot store the text. */
export function isBadText(text: string): boolean {
  return text.includes(NUL) || !text.isWellFormed();
}

function findWideNumber(source: string): ItemError | null {
  let found = false;
  const value = parseExact(source, (numeral) => {
    if (fitsNumeric(numeral)) return 0;
    found = true;
    return NUL;
  });
  const limits = `${MAX_DIGITS_BEFORE} digits before the point and ${MAX_DIGITS_AFTER} after it`;
  const what = `a number that Postgres cannot store: it has room for ${limits}`;
  return found ? errorAt("out_of_range", findBadText(value), what) : null;
}

/** Longer paths are cut, because the path is part of an index entry. */
const MAX_PATH_CHARS = 200;

function errorAt(code: string, at: string | null, what: string): ItemError {
  const path = (at ?? "").slice(0, MAX_PATH_CHARS);
  return { code, path, reason: `${path || "the item"} holds ${what}` };
}

/** The path of the first bad text or key, such as `extra.a[3]`; null if there is none. */
function findBadText(value: unknown, path = ""): string | null {
  if (typeof value === "string") return isBadText(value) ? path : null;
  if (typeof value !== "object" || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    // A key is text of the service: show a plain name as it is, and any other as a question mark.
    const name = /^[\w$-]{1,40}$/.test(key) ? key : "?";
    const innerPath = Array.isArray(value) ? `${path}[${key}]` : path === "" ? name : `${path}.${name}`;
    const found = isBadText(key) ? innerPath : findBadText(inner, innerPath);
    if (found !== null) return found;
  }
  return null;
}

/** Begins an escape `\u`. A backslash that is escaped itself begins none. */
const ESCAPE = String.raw`(?<!\\)(?:\\\\)*\\u`;

/**
 * An escaped NUL, or half of a surrogate pair without the other half. It checks the text instead of the values, because
 * jsonb refuses such an escape even under a key that a later equal key overrides.
 */
const BAD_ESCAPE = new RegExp(
  String.raw`${ESCAPE}(?:0000|d[89ab]..(?!\\ud[c-f]))|(?<!${ESCAPE}d[89ab]..)${ESCAPE}d[c-f]`,
  "i",
);

/** Deeper nesting is rejected, because code that recurses over JSON could overflow its stack. */
const MAX_DEPTH = 500;

/** True if the text, which `JSON.parse` accepts, nests deeper than `MAX_DEPTH` objects and lists. */
export function isTooDeep(source: string): boolean {
  if (source.length <= 2 * MAX_DEPTH) return false;
  // Nearly all items have few brackets, which are counted faster.
  const brackets = source.split("{", MAX_DEPTH + 2).length + source.split("[", MAX_DEPTH + 2).length - 2;
  if (brackets <= MAX_DEPTH) return false;
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < source.length; i++) {
    const char = source[i];
    if (char === '"') quoted = !quoted;
    else if (quoted) i += char === "\\" ? 1 : 0;
    else if (char === "{" || char === "[") depth++;
    else if (char === "}" || char === "]") depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** Digits that Postgres' `numeric`, and so jsonb, can hold before and after the point. */
const MAX_DIGITS_BEFORE = 131_072;
const MAX_DIGITS_AFTER = 16_383;
const MAX_EXPONENT = 1_073_741_822;

/** A numeral with fewer characters, its point included, is exact as a double. */
const MIN_INEXACT_CHARS = 16;
const LARGE_EXPONENT = /\d[eE][+-]?\d{3}/;
const NUMERAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

function isDigitOrPoint(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2e;
}

/** Looks at one character in sixteen, and around it if it is part of a numeral, because a regular expression is slower. */
function hasLongNumeral(source: string): boolean {
  for (let index = MIN_INEXACT_CHARS - 1; index < source.length; index += MIN_INEXACT_CHARS) {
    if (!isDigitOrPoint(source.charCodeAt(index))) continue;
    let start = index;
    while (isDigitOrPoint(source.charCodeAt(start - 1))) start--;
    let end = index + 1;
    while (isDigitOrPoint(source.charCodeAt(end))) end++;
    if (end - start >= MIN_INEXACT_CHARS) return true;
  }
  return false;
}

/** True if `JSON.parse` may round a number of this text. Strings with many digits give a false alarm. */
export function mayLoseDigits(source: string): boolean {
  return LARGE_EXPONENT.test(source) || hasLongNumeral(source);
}

/** True if Postgres' `numeric` can hold the number. */
export function fitsNumeric(numeral: string): boolean {
  const [, , , fraction = "", power = "0"] = NUMERAL.exec(numeral) ?? [];
  const { digits, exponent } = new Decimal(numeral);
  return (
    Math.abs(Number(power)) <= MAX_EXPONENT &&
    fraction.length - Number(power) <= MAX_DIGITS_AFTER &&
    digits.replace("-", "").length + exponent <= MAX_DIGITS_BEFORE
  );
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

/** An escape, a quote, or a numeral, which may be part of a string. */
const TOKEN = /\\.|"|-?\d[\d.eE+-]*/g;

/**
 * Parses text that `JSON.parse` accepts, that is not nested deeply, and whose strings hold no NUL. `readNumber` converts
 * each numeral as it is spelled, also those under a key that a later equal key overrides.
 */
export function parseExact(source: string, readNumber: (numeral: string) => unknown): unknown {
  const numbers: unknown[] = [];
  let quoted = false;
  // Each numeral becomes a string that no other value can be: a NUL and the index of its number.
  const marked = source.replace(TOKEN, (token) => {
    if (token === '"') quoted = !quoted;
    if (quoted || token === '"') return token;
    return `"\\u0000${numbers.push(readNumber(token)) - 1}"`;
  });
  return JSON.parse(marked, (_, value) =>
    typeof value === "string" && value.startsWith(NUL) ? numbers[Number(value.slice(1))] : value,
  );
}

const parseValue = (source: string) => parseExact(source, (numeral) => new Decimal(numeral));

/**
 * True if two JSON texts have the same value, by the rules of jsonb: white space, the order of keys and the spelling of
 * strings, keys and numbers do not count, and the last of two equal keys in one object wins.
 */
export function jsonEqual(a: string, b: string): boolean {
  return a === b || isDeepStrictEqual(parseValue(a), parseValue(b));
}

import { mayLoseDigits, parseExact } from "../json/exact-json.ts";
import { findPath } from "../json/json-path.ts";
import { DEEPEST, isDeeperThan } from "../json/json-text.ts";
import { DIGITS_AFTER, DIGITS_BEFORE, fitsNumeric, mayExceedNumeric } from "../json/numeric-range.ts";
import type { Fault } from "./fault.ts";
import { escapesBadText, isBadText } from "./text-check.ts";

const UNSTORABLE = Symbol("a number that jsonb cannot hold");

function findWideNumber(source: string): Fault | null {
  let found = false;
  const value = parseExact(source, (numeral) => {
    if (fitsNumeric(numeral)) return 0;
    found = true;
    return UNSTORABLE;
  });
  if (!found) return null;
  const path = findPath(value, (inner) => inner === UNSTORABLE);
  const limits = `${DIGITS_BEFORE} digits before the point and ${DIGITS_AFTER} after it`;
  return {
    code: "out_of_range",
    path,
    reason: `${path || "the item"} holds a number that Postgres cannot store: it has room for ${limits}`,
  };
}

/** Whether no item in these bytes, which `text` holds too, can be unfit to store, but for its depth, or have an integer in doubt. */
export function isPlain(text: string, bytes: Uint8Array): boolean {
  return !text.includes("\\u") && !mayLoseDigits(text, bytes);
}

/**
 * Why Postgres would refuse the item as text or jsonb; null for nearly all. `value` is what `JSON.parse` made of `source`,
 * `plain` what `isPlain` said of a text around it.
 */
export function findUnstorable(source: string, value: unknown, plain = false): Fault | null {
  if (isDeeperThan(DEEPEST, source)) {
    return { code: "too_deep", path: "", reason: `the item nests deeper than ${DEEPEST} levels` };
  }
  if (plain) return null;
  if (source.includes("\\u") && escapesBadText(source)) {
    const path = findPath(value, (inner) => typeof inner === "string" && isBadText(inner));
    return { code: "bad_text", path, reason: `${path || "the item"} holds a NUL or half of a surrogate pair` };
  }
  return mayExceedNumeric(source) && mayLoseDigits(source) ? findWideNumber(source) : null;
}

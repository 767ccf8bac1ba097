import { isLosslessNumber } from "lossless-json";
import { mayLoseDigits, parseNumerals } from "../json/exact-json.ts";
import { findPath } from "../json/json-path.ts";
import { DEEPEST, isDeeperThan } from "../json/json-text.ts";
import { fitsNumeric, mayExceedNumeric } from "../json/numeric-range.ts";
import type { Fault } from "./fault.ts";
import { escapesBadText, isBadText } from "./text-check.ts";

function findWideNumber(source: string): Fault | null {
  let wide = false;
  const value = parseNumerals(source, (numeral) => {
    wide ||= !fitsNumeric(numeral);
  });
  if (!wide) return null;
  const path = findPath(value, (inner) => isLosslessNumber(inner) && !fitsNumeric(inner.value));
  return {
    code: "out_of_range",
    path,
    reason: `${path || "the item"} holds a number with more digits than numeric takes`,
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

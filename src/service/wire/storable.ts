import { parseExact } from "../json/exact-json.ts";
import {
  fitsNumeric,
  isDeeperThan,
  MAX_DEPTH,
  MAX_DIGITS_AFTER,
  MAX_DIGITS_BEFORE,
  mayExceedNumeric,
  mayLoseDigits,
} from "../json/json-text.ts";
import type { ItemError } from "./specification.ts";

/**
 * True if no item in this chunk can hold unstorable text or an inexact number (depth is checked separately). `text` is
 * the same bytes as latin1.
 */
export function needsNoCheck(text: string, bytes: Uint8Array): boolean {
  return !text.includes("\\u") && !mayLoseDigits(text, bytes);
}

/**
 * Why Postgres would refuse the item as text or jsonb; null for nearly all items. `value` is the parsed `source`.
 * `prechecked` is the result of `needsNoCheck` for a chunk that contains it.
 */
export function findUnstorable(source: string, value: unknown, prechecked = false): ItemError | null {
  if (isDeeperThan(MAX_DEPTH, source)) {
    return { code: "too_deep", path: "", reason: `the item nests deeper than ${MAX_DEPTH} levels` };
  }
  if (prechecked) return null;
  if (source.includes("\\u") && escapesBadText(source)) {
    const path = findPath(value, (inner) => typeof inner === "string" && isBadText(inner));
    return { code: "bad_text", path, reason: `${path || "the item"} holds a NUL or half of a surrogate pair` };
  }
  return mayExceedNumeric(source) && mayLoseDigits(source) ? findWideNumber(source) : null;
}

/** True if Postgres cannot store the text. */
export function isBadText(text: string): boolean {
  return text.includes("\u0000") || !text.isWellFormed();
}

const UNSTORABLE = Symbol("a number that jsonb cannot hold");

function findWideNumber(source: string): ItemError | null {
  let found = false;
  const value = parseExact(source, (numeral) => {
    if (fitsNumeric(numeral)) return 0;
    found = true;
    return UNSTORABLE;
  });
  if (!found) return null;
  const path = findPath(value, (inner) => inner === UNSTORABLE);
  const limits = `${MAX_DIGITS_BEFORE} digits before the point and ${MAX_DIGITS_AFTER} after it`;
  return {
    code: "out_of_range",
    path,
    reason: `${path || "the item"} holds a number that Postgres cannot store: it has room for ${limits}`,
  };
}

const SUSPECT_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|.)/g;

/**
 * True if well-formed JSON text escapes a NUL or half of a surrogate pair. It checks the text instead of the values,
 * because jsonb refuses such an escape even under a key that a later equal key overrides.
 */
function escapesBadText(source: string): boolean {
  if (!SUSPECT_ESCAPE.test(source)) return false;
  /** Where an escaped high half ended; -1 if the last escape was not one. */
  let highEnd = -1;
  for (const match of source.matchAll(ESCAPE)) {
    const unit = match[1] === undefined ? -1 : Number.parseInt(match[1], 16);
    const isLow = unit >= 0xdc00 && unit <= 0xdfff;
    if (isLow !== (highEnd === match.index)) return true;
    if (unit === 0) return true;
    highEnd = unit >= 0xd800 && unit <= 0xdbff ? match.index + match[0].length : -1;
    // A high half must be followed by an escape, which the next turn of the loop checks.
    if (highEnd !== -1 && source[highEnd] !== "\\") return true;
  }
  return false;
}

/** Longer paths are cut, because the path is part of an index entry. */
const MAX_PATH_CHARS = 200;

function child(path: string, key: string): string {
  // A key is text of the service: show a plain name as it is, and any other as a question mark.
  const name = /^[\w$-]{1,40}$/.test(key) ? key : "?";
  return path === "" ? name : `${path}.${name}`;
}

function search(value: unknown, path: string, isWanted: (value: unknown) => boolean): string | null {
  if (isWanted(value)) return path;
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = search(value[i], `${path}[${i}]`, isWanted);
      if (found !== null) return found;
    }
    return null;
  }
  for (const [key, inner] of Object.entries(value)) {
    const childPath = child(path, key);
    const found = isWanted(key) ? childPath : search(inner, childPath, isWanted);
    if (found !== null) return found;
  }
  return null;
}

/** The path of the first value or key that is wanted, such as `extra.a[3]`; empty if there is none. */
function findPath(value: unknown, isWanted: (value: unknown) => boolean): string {
  const path = search(value, "", isWanted) ?? "";
  return path.length > MAX_PATH_CHARS ? `${path.slice(0, MAX_PATH_CHARS)}…` : path;
}

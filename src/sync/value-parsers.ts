import type { TextParsers } from "../db/content-fields.ts";
import { createTimeZone, parseDate } from "./rules/parse-date.ts";

/** Parses the service's texts into typed columns, and counts those that have an unknown format. */
export interface ValueParsers extends TextParsers {
  unparsed(): { readonly dates: number; readonly sizes: number };
}

/** `timeZone`: the IANA zone of dates without an offset. */
export function createValueParsers(timeZone: string): ValueParsers {
  const zone = createTimeZone(timeZone);
  let dates = 0;
  let sizes = 0;
  return {
    microseconds(text) {
      if (!text) return null;
      const date = parseDate(text, zone);
      if (date === null) dates += 1;
      return date === null ? null : BigInt(date.at) * 1000n + BigInt(date.micros);
    },
    bytes(text) {
      const size = parseFileSize(text);
      if (size === null && text) sizes += 1;
      return size;
    },
    unparsed: () => ({ dates, sizes }),
  };
}

const DECIMAL = String.raw`((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)`;
const SPACES = String.raw`[ \u00a0\u202f]*`;
const FILE_SIZE = new RegExp(
  `^${DECIMAL}${SPACES}(?:([kmgtp])i?b|b|bytes?)(?:${SPACES}\\(${DECIMAL}${SPACES}(?:b|bytes?)\\))?$`,
  "i",
);
const PREFIXES = ["", "k", "m", "g", "t", "p"];

/**
 * Bytes of a `fileSize` such as `240 KB`, `1.5 GB` or `216 KB  (221,184 B)`, with 1 KB = 1024 B; null if its format is unknown.
 * The specification gives no format (2.2). The first number is rounded by the service. The one in parentheses is exact, but
 * counts only if the first can be rounded from it: it differs by less than one step of the last digit, and is at least half
 * of the first (every size up to 1 MB would round up to `1 MB`).
 */
export function parseFileSize(text: string | null): number | null {
  const [, amount, prefix = "", exact] = FILE_SIZE.exec(text ?? "") ?? [];
  if (amount === undefined) return null;
  const unit = 1024 ** PREFIXES.indexOf(prefix.toLowerCase());
  const rounded = plain(amount) * unit;
  if (exact === undefined) return unit === 1 ? wholeBytes(rounded) : wholeBytes(Math.round(rounded));
  const decimals = amount.split(".")[1]?.length ?? 0;
  const bytes = plain(exact);
  const agrees = Math.abs(bytes - rounded) < unit / 10 ** decimals && bytes >= rounded / 2;
  return agrees ? wholeBytes(bytes) : null;
}

function plain(digits: string): number {
  return Number(digits.replaceAll(",", ""));
}

function wholeBytes(bytes: number): number | null {
  return Number.isSafeInteger(bytes) ? bytes : null;
}

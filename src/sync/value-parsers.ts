import type { TextParsers } from "../db/content-fields.ts";
import { parseDate } from "./rules/parse-date.ts";
import { parseFileSize } from "./rules/parse-file-size.ts";
import { createTimeZone } from "./rules/time-zone.ts";

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

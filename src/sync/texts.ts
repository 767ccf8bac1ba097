import { readDate } from "./rules/dates.ts";
import { readSize } from "./rules/sizes.ts";

/** Reads the service's texts into typed columns, and counts those that nobody can read. */
export interface TextReader {
  /** Since the epoch. A bigint, because a double has no room for the microseconds of distant years. */
  microseconds(text: string | null): bigint | null;
  bytes(text: string | null): number | null;
  unread(): { readonly dates: number; readonly sizes: number };
}

export function openTextReader(timeZone: string): TextReader {
  let dates = 0;
  let sizes = 0;
  return {
    microseconds(text) {
      if (!text) return null;
      const date = readDate(text, timeZone);
      if (date === null) dates += 1;
      return date === null ? null : BigInt(date.at) * 1000n + BigInt(date.micros);
    },
    bytes(text) {
      const size = readSize(text);
      if (size === null && text) sizes += 1;
      return size;
    },
    unread: () => ({ dates, sizes }),
  };
}

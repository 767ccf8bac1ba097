import { readDate } from "./rules/dates.ts";
import { readSize } from "./rules/sizes.ts";

/** Reads the service's texts into typed columns, and counts those that nobody can read. */
export interface TextReader {
  seconds(text: string | null): number | null;
  bytes(text: string | null): number | null;
  unread(): { readonly dates: number; readonly sizes: number };
}

export function openTextReader(timeZone: string): TextReader {
  let dates = 0;
  let sizes = 0;
  return {
    seconds(text) {
      if (!text) return null;
      const date = readDate(text, timeZone);
      if (date === null) dates += 1;
      return date === null ? null : date.at / 1000;
    },
    bytes(text) {
      const size = readSize(text);
      if (size === null && text) sizes += 1;
      return size;
    },
    unread: () => ({ dates, sizes }),
  };
}

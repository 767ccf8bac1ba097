import { readDate } from "./rules/dates.ts";
import { readSize } from "./rules/sizes.ts";

/** Reads the service's texts into typed columns, and counts those that nobody can read. */
export interface TextReader {
  seconds(text: string | null): number | null;
  bytes(text: string | null): number | null;
  unread(): { readonly dates: number; readonly sizes: number };
}

/** The dates of one library repeat a lot; parsing costs more than looking up. */
const REMEMBERED = 10_000;

export function openTextReader(timeZone: string): TextReader {
  const known = new Map<string, number | null>();
  let dates = 0;
  let sizes = 0;
  return {
    seconds(text) {
      if (!text) return null;
      let seconds = known.get(text);
      if (seconds === undefined) {
        const date = readDate(text, timeZone);
        seconds = date === null ? null : date.at / 1000;
        if (known.size >= REMEMBERED) known.clear();
        known.set(text, seconds);
      }
      if (seconds === null) dates += 1;
      return seconds;
    },
    bytes(text) {
      const size = readSize(text);
      if (size === null && text) sizes += 1;
      return size;
    },
    unread: () => ({ dates, sizes }),
  };
}

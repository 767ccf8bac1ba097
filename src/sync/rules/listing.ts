import type { Listing } from "../../model.ts";
import { HOUR_MS } from "../../units.ts";

/** Rejects of entries with a name that no copy can hold. */
const UNADDRESSABLE_CODES: readonly string[] = ["unaddressable", "bad_text"];

/** False if the listing had further pages, or an entry that names no library: it may stand for any library. */
export function namesEveryLibrary({ rejects }: Pick<Listing, "rejects">): boolean {
  return rejects.every(({ key, code }) => key !== null || UNADDRESSABLE_CODES.includes(code));
}

/** Whether the `Date` of a listing that arrived at this time by the database's clock agrees with that clock to an hour. */
export function confirmsClock({ date, cachedMs }: Pick<Listing, "date" | "cachedMs">, listedAt: number): boolean {
  return date !== null && cachedMs === 0 && Math.abs(listedAt - date) < HOUR_MS;
}

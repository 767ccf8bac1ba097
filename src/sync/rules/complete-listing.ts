import type { Listing } from "../../model.ts";

/** Rejects of entries with a name that no copy can hold. */
const UNADDRESSABLE_CODES: readonly string[] = ["unaddressable", "bad_text"];

/** False if the listing had further pages, or an entry that names no library: it may stand for any library. */
export function namesEveryLibrary({ rejects }: Pick<Listing, "rejects">): boolean {
  return rejects.every(({ key, code }) => key !== null || UNADDRESSABLE_CODES.includes(code));
}

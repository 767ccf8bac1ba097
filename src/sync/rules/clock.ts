import type { Listing } from "../../model.ts";
import { HOUR_MS } from "../../units.ts";

/** Whether the `Date` of a listing that arrived at this time by the database's clock agrees with that clock to an hour. */
export function confirmsClock({ date, cachedMs }: Pick<Listing, "date" | "cachedMs">, listedAt: number): boolean {
  return date !== null && cachedMs === 0 && Math.abs(listedAt - date) < HOUR_MS;
}

import type { Config } from "../../config.ts";
import { plural } from "../../format.ts";
import type { Listing } from "../../model.ts";
import type { CheckLine } from "../../report/check.ts";
import { ok, warn } from "./lines.ts";

/** Whether every entry of the listing can be stored, and the listing be believed where it lacks something. */
export function checkListing(listing: Listing, { defaultOwner }: Pick<Config, "defaultOwner">): CheckLine[] {
  const { rejects, incomplete, libraries, repeated } = listing;
  const details = [
    ...reasonsOf(listing),
    ...(incomplete === null ? [] : [`${incomplete}; nothing is marked as removed while that is so`]),
    ...(repeated === 0 ? [] : [`${plural(repeated, "entry repeats", "entries repeat")} an earlier one`]),
  ];
  if (rejects.length === 0 && incomplete === null) {
    const text = libraries.length === 0 ? "is empty: there is nothing to copy yet" : "every entry can be read";
    return [ok("listing", text, details)];
  }
  const isOwnerless = rejects.some(({ code, path }) => code === "missing_field" && path === "uploadUser");
  const hint =
    isOwnerless && defaultOwner === null
      ? "set SIMCAT_DEFAULT_OWNER to the owner of the entries that name none in uploadUser"
      : null;
  const text =
    rejects.length === 0
      ? "is not whole"
      : `${plural(rejects.length, "entry cannot be stored", "entries cannot be stored")}, the others can`;
  return [warn("listing", text, hint, details)];
}

/** How many rejects there are for each reason. */
function reasonsOf({ rejects }: Listing): string[] {
  const counts = new Map<string, number>();
  for (const { code, path } of rejects) {
    const name = path === "" ? code : `${code} (${path})`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${count} × ${name}`);
}

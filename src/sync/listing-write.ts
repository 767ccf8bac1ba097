import type { ListingWrite } from "../db/save-listing.ts";
import { keyText } from "../key.ts";
import type { Selection } from "../model.ts";
import type { Prepared } from "./prepare.ts";
import { selectorOf } from "./selection.ts";

/** What the database has to know of the listing before any content is read. Only what is new is written. */
export function toListingWrite({ listing, listedAt, stored, verdict }: Prepared, selection: Selection): ListingWrite {
  const isSelected = selectorOf(selection);
  const inScope = listing.libraries.filter((one) => isSelected(one.key));
  const storedOf = (key: Parameters<typeof keyText>[0]) => stored.get(keyText(key));
  return {
    changed: inScope.filter((one) => {
      const sync = storedOf(one.key)?.sync ?? null;
      return sync === null || sync.listedText !== one.lastModified;
    }),
    restored: inScope.map((one) => one.key).filter((key) => storedOf(key)?.removed),
    rejects: listing.rejects,
    resolveOthers: listing.incomplete === null && verdict.kind !== "held",
    seenAt: listedAt,
  };
}

/** Whether there is anything to write of it. */
export function isNews({ changed, restored, rejects, resolveOthers }: ListingWrite): boolean {
  return changed.length > 0 || restored.length > 0 || rejects.length > 0 || resolveOthers;
}

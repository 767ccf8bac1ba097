import type { ListingWrite } from "../db/save-listing.ts";
import { keyText } from "../key.ts";
import type { LibraryKey, Selection } from "../model.ts";
import type { Prepared } from "./prepare.ts";
import { selectorOf } from "./selection.ts";

/** What the database has to know of the listing before any content is read. Only what is new is written. */
export function toListingWrite({ listing, listedAt, stored, verdict }: Prepared, selection: Selection): ListingWrite {
  const isSelected = selectorOf(selection);
  const inScope = listing.libraries.filter((one) => isSelected(one.key));
  const storedOf = (key: LibraryKey) => stored.get(keyText(key));
  // A listing that may lack entries says nothing of what it lacks, but what it lists well is well.
  const isTrusted = listing.incomplete === null && !(verdict.kind === "held" && verdict.rule === "empty_listing");
  let listedWell: Set<string> | undefined;
  const isListedWell = (key: LibraryKey) => {
    listedWell ??= new Set(listing.libraries.filter((one) => one.source !== null).map((one) => keyText(one.key)));
    return listedWell.has(keyText(key));
  };
  return {
    // Of the whole listing: a date that was seen unsettles its library, whatever this run was asked to read.
    changed: listing.libraries.filter((one) => {
      const sync = storedOf(one.key)?.sync ?? null;
      return sync === null || sync.listedText !== one.lastModified;
    }),
    restored: inScope.map((one) => one.key).filter((key) => storedOf(key)?.removed),
    rejects: listing.rejects,
    isOver: (key) => isTrusted || (key !== null && isListedWell(key)),
    seenAt: listedAt,
  };
}

import type { ListingWrite } from "../db/store/save-listing.ts";
import { keyText } from "../key.ts";
import type { LibraryKey } from "../model.ts";
import type { Prepared } from "./prepare.ts";

/** What the database has to know of the listing before any content is read; null when it has no news. */
export function toListingWrite({ listing, listedAt, plan, openRejects, verdict }: Prepared): ListingWrite | null {
  const news = plan.changed.length + plan.restored.length + plan.returned.length + listing.rejects.length;
  if (news === 0 && !openRejects) return null;
  // A listing that may lack entries says nothing of what it lacks, but what it lists well is well.
  const isTrusted = listing.incomplete === null && !(verdict.kind === "held" && verdict.rule === "empty_listing");
  let listedWell: Set<string> | undefined;
  const isListedWell = (key: LibraryKey) => {
    listedWell ??= new Set([...listing.libraries].filter((one) => one.source !== null).map((one) => keyText(one.key)));
    return listedWell.has(keyText(key));
  };
  return {
    // Of the whole listing: a date that was seen unsettles its library, whatever this run was asked to read.
    changed: plan.changed,
    restored: plan.restored,
    returned: plan.returned,
    rejects: listing.rejects,
    isOver: (key) => isTrusted || (key !== null && isListedWell(key)),
    seenAt: listedAt,
  };
}

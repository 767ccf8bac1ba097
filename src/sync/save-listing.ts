import { refusedByDatabase } from "../db/store/save-in-halves.ts";
import { type ListingWrite, saveListed } from "../db/store/save-listed.ts";
import { keyText } from "../key.ts";
import type { FailedLibrary, LibraryKey } from "../model.ts";
import type { PlannedListing } from "./plan-run.ts";
import type { RemovalVerdict } from "./rules/guard.ts";
import type { Run } from "./run-types.ts";

/**
 * Records what changed in the listing, before any content is read.
 * @returns libraries whose listed date the database refuses to record. They must not be read: the next run would not know
 *   that their bookmark is unsettled
 */
export async function saveListing(
  { id, lease, mask, totals }: Run,
  planned: PlannedListing,
  verdict: RemovalVerdict,
): Promise<FailedLibrary[]> {
  const refused = new Map<string, FailedLibrary>();
  await saveListed(lease.write, id, toListingWrite(planned, verdict), (key, error) => {
    const refusal = refusedByDatabase("recording the listing", error);
    if (key === null) totals.addUnrecorded(null, mask(refusal.message));
    else refused.set(keyText(key), refusal.toFailedLibrary(key, mask));
  });
  return [...refused.values()];
}

/** The changes of the whole listing, whatever the run's selection. */
export function toListingWrite(
  { listing: { libraries, rejects, incomplete }, listedAt, plan, openRejects }: PlannedListing,
  verdict: RemovalVerdict,
): ListingWrite {
  // A listing that may lack entries proves nothing by what it lacks, but the entries that it has are good.
  const isTrusted = incomplete === null && !(verdict.kind === "held" && verdict.rule === "empty_listing");
  const isGoodEntry = (key: LibraryKey) => {
    const index = libraries.find(key);
    return index !== undefined && libraries.at(index).source !== null;
  };
  return {
    changed: plan.changed,
    restored: plan.restored,
    returned: plan.returned,
    rejects,
    isOver: openRejects ? (key) => isTrusted || (key !== null && isGoodEntry(key)) : null,
    seenAt: listedAt,
  };
}

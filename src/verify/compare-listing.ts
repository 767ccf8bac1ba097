import { keyText } from "../key.ts";
import type { LibraryKey, ListedLibrary, Listing, StoredLibrary } from "../model.ts";
import { type DifferenceKind, type LibraryDifference, NO_SCENARIOS, type RejectedItems } from "./findings.ts";

interface ListingComparison {
  /** Libraries on both sides. Their content has to be compared. */
  readonly both: readonly ListedLibrary[];
  /** Libraries on one side only. */
  readonly differences: readonly LibraryDifference[];
  readonly rejected: readonly RejectedItems[];
}

/** Compares the listed libraries with the live ones of the database, which `stored` holds by `keyText`. */
export function compareListing(
  listing: Listing,
  stored: ReadonlyMap<string, StoredLibrary>,
  isInScope: (key: LibraryKey) => boolean,
): ListingComparison {
  const both: ListedLibrary[] = [];
  const differences: LibraryDifference[] = [];
  const addDifference = (key: LibraryKey, kind: DifferenceKind, removalHeldAt: Date | null = null) =>
    differences.push({ key, kind, columns: [], scenarios: NO_SCENARIOS, removalHeldAt });

  for (const listed of listing.libraries) {
    if (!isInScope(listed.key)) continue;
    const row = stored.get(keyText(listed.key));
    if (row === undefined || row.state === "listed") addDifference(listed.key, "missing");
    else if (row.state === "removed") addDifference(listed.key, "removed");
    else both.push(listed);
  }
  if (listing.incomplete === null) {
    for (const { key, state, sync } of stored.values()) {
      if (state !== "live" || !isInScope(key) || listing.libraries.find(key) !== undefined) continue;
      const heldAt = sync?.removalHeldAt ?? null;
      addDifference(key, "unlisted", heldAt === null ? null : new Date(heldAt));
    }
  }
  const rejects = listing.rejects.filter(({ key }) => key === null || isInScope(key));
  return { both, differences, rejected: rejects.map(({ key, reason }) => ({ key, count: 1, reason })) };
}

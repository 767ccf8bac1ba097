import { keyText } from "../key.ts";
import type { LibraryKey, ListedLibrary, Listing, StoredLibrary } from "../model.ts";
import { type DifferenceKind, type LibraryDifference, NO_SCENARIOS, type RejectedItems } from "./findings.ts";

export interface ListingComparison {
  /** On both sides: what they say of it has to be compared. */
  readonly both: readonly ListedLibrary[];
  /** On one side only. */
  readonly differences: readonly LibraryDifference[];
  readonly rejected: readonly RejectedItems[];
}

/** Which libraries the service lists and which are live in the database; `stored` holds them by `keyText`. */
export function compareListing(
  listing: Listing,
  stored: ReadonlyMap<string, StoredLibrary>,
  isInScope: (key: LibraryKey) => boolean,
): ListingComparison {
  const both: ListedLibrary[] = [];
  const differences: LibraryDifference[] = [];
  const differs = (key: LibraryKey, kind: DifferenceKind) =>
    differences.push({ key, kind, columns: [], scenarios: NO_SCENARIOS });

  for (const listed of listing.libraries) {
    if (!isInScope(listed.key)) continue;
    const row = stored.get(keyText(listed.key));
    if (row === undefined || row.state === "listed") differs(listed.key, "missing");
    else if (row.state === "removed") differs(listed.key, "removed");
    else both.push(listed);
  }
  if (listing.incomplete === null) {
    for (const { key, state } of stored.values()) {
      if (state === "live" && listing.libraries.find(key) === undefined && isInScope(key)) differs(key, "unlisted");
    }
  }
  const rejects = listing.rejects.filter(({ key }) => key === null || isInScope(key));
  return { both, differences, rejected: rejects.map(({ key, reason }) => ({ key, count: 1, reason })) };
}

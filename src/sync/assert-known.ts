import type { Connection, Pool } from "../db/connect.ts";
import { readUnknown, streamKnownKeys } from "../db/read/known-keys.ts";
import type { ReadSource } from "../db/read/read-source.ts";
import { readSnapshot } from "../db/transaction.ts";
import { UsageError } from "../errors.ts";
import { typeableKey } from "../key.ts";
import type { LibraryKey, Listing } from "../model.ts";
import { printable } from "../printable.ts";
import type { Selection } from "../run-summary.ts";
import { searchLibrary, searchOwner } from "./rules/near-names.ts";
import { findUnlisted, isEverything } from "./rules/selection.ts";

interface KnownSources {
  /** Null if the service is not asked: then the libraries that earlier runs listed are known. */
  readonly listing: Pick<Listing, "libraries" | "rejects"> | null;
  /** Null if the database has no schema yet: nothing is stored. */
  readonly pool: Pool | null;
  /** For a role that may read only the views: "views". */
  readonly source?: ReadSource;
}

/** @throws a UsageError with suggestions for an owner or a library that is neither listed nor stored */
export async function assertKnown(
  selection: Selection,
  { listing, pool, source = "tables" }: KnownSources,
  signal: AbortSignal,
): Promise<void> {
  const unlisted = listing === null ? selection : findUnlisted(selection, listing);
  if (isEverything(unlisted)) return;
  const read = (connection: Connection) => readUnknown(connection, unlisted, source);
  const unknown = pool === null ? unlisted : await readSnapshot(pool, "looking for a library", read, signal);
  if (isEverything(unknown)) return;

  const lack = listing === null ? "is not stored, and no run has listed it" : "is neither listed nor stored";
  const searches = [
    ...unknown.libraries.map((key) => ({ text: `${typeableKey(key)} ${lack}`, search: searchLibrary(key) })),
    ...unknown.owners.map((owner) => ({ text: `owner ${printable(owner)} ${lack}`, search: searchOwner(owner) })),
  ];
  const shown = searches.slice(0, MAX_SUGGESTED);
  const offer = (key: LibraryKey) => {
    for (const { search } of shown) search.offer(key);
  };
  for (const { key } of listing?.libraries ?? []) offer(key);
  if (pool !== null) {
    const offerAll = (connection: Connection) => streamKnownKeys(connection, offer, source);
    await readSnapshot(pool, "looking for near names", offerAll, signal);
  }
  const more = searches.length > MAX_SUGGESTED ? [`and ${searches.length - MAX_SUGGESTED} more`] : [];
  throw new UsageError([...shown.map(({ text, search }) => text + suggest(search.words())), ...more].join("; "));
}

const MAX_SUGGESTED = 10;

function suggest(words: readonly string[]): string {
  return words.length === 0 ? "" : ` (did you mean ${words.join(" or ")}?)`;
}

import type { LibraryKey, Metadata } from "../../model.ts";

/** An absent, null or empty name counts as the requested one. */
const nameIn = (metadata: Metadata, key: LibraryKey) => metadata.libraryName || key.name;

/** Whether metadata has another library's name than the requested one, byte for byte. Then it may be another library's. */
export function hasOtherName(metadata: Metadata, key: LibraryKey): boolean {
  return nameIn(metadata, key) !== key.name;
}

/**
 * The listed library that metadata names instead of the requested one; null for nearly all. A libraryOwner may be an
 * organization, so an owner by itself is another library only if the listing has that pair.
 */
export function findOtherListed(
  metadata: Metadata,
  key: LibraryKey,
  isListed: (key: LibraryKey) => boolean,
): LibraryKey | null {
  const name = nameIn(metadata, key);
  const owners = [metadata.libraryOwner || key.owner, key.owner];
  const named = owners.map((owner) => ({ owner, name }));
  return named.find((other) => (other.owner !== key.owner || name !== key.name) && isListed(other)) ?? null;
}

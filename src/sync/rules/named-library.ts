import type { LibraryKey, Metadata } from "../../model.ts";

/** An absent, null or empty name counts as the requested one. */
const nameIn = (metadata: Metadata, key: LibraryKey) => metadata.libraryName || key.name;

/** Whether metadata has another library's name than the requested one, byte for byte. Then it may be another library's. */
export function hasOtherName(metadata: Metadata, key: LibraryKey): boolean {
  return nameIn(metadata, key) !== key.name;
}

/**
 * The owner's library that metadata names instead of the requested one, if it is listed; null for nearly all. The
 * libraryOwner proves nothing: it may be an organization or another user.
 */
export function findOtherListed(
  metadata: Metadata,
  key: LibraryKey,
  isListed: (key: LibraryKey) => boolean,
): LibraryKey | null {
  const other = { owner: key.owner, name: nameIn(metadata, key) };
  return hasOtherName(metadata, key) && isListed(other) ? other : null;
}

/** Whether metadata may be another library's: by its name, or because its libraryOwner has a listed library of that name. */
export function mayBeOther(metadata: Metadata, key: LibraryKey, isListed: (key: LibraryKey) => boolean): boolean {
  const owner = metadata.libraryOwner || key.owner;
  return hasOtherName(metadata, key) || (owner !== key.owner && isListed({ owner, name: key.name }));
}

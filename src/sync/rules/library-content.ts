import type { LibraryContent, LibraryKey, Metadata, ReadAction, ReceivedContent } from "../../model.ts";
import { CACHE_MARGIN_MS, isSettled, isSuspect, seenAtForStore, windowEnd } from "./settle.ts";

interface ContentFacts {
  /** When the listing's last byte arrived, in database ms. */
  readonly listedAt: number;
  /** When the first request of the content was sent, in database ms. */
  readonly readAt: number;
  readonly contentHash: string;
  /**
   * Content that was last read before this moment, in database ms, is compared row by row even if its hash is unchanged:
   * this repairs rows that another program altered. Null trusts every hash.
   */
  readonly hashesTrustedSince: number | null;
  /** The metadata may be another library's. */
  readonly mayBeOther: boolean;
}

/** Decides what to store of one library, and under which bookmark. */
export function buildLibraryContent(
  action: ReadAction,
  received: ReceivedContent,
  facts: ContentFacts,
): LibraryContent {
  const { listed, stored } = action;
  const sync = stored?.sync ?? null;
  const isSameText = sync !== null && sync.listedText === listed.lastModified && stored?.state !== "removed";
  const isCached = received.cachedMs > 0;
  const suspect = facts.mayBeOther || isSuspect(listed.lastModified, received.metadata?.lastModified ?? null, isCached);
  const suspectBefore = sync?.suspectReads ?? 0;
  // Rejected metadata leaves the stored one, which may be another library's.
  const isMetadataKept = received.metadata === null;
  const known = isSameText ? sync.bookmarkSeenAt : null;
  // A moment in the future was stored before the clock was set back: the date counts as seen now.
  const isAhead = known !== null && known > facts.listedAt;
  const firstSeenAt = known === null || isAhead ? facts.listedAt : known;
  // A date that is already the bookmark keeps its moment; a new one may be old enough to settle at once.
  const keepsMoment = suspect || (isSameText && !isAhead && sync.bookmark === listed.lastModified);
  const bookmarkSeenAt = keepsMoment
    ? firstSeenAt
    : seenAtForStore({
        listedText: listed.lastModified,
        listedAt: firstSeenAt,
        previousText: (isSameText ? sync.bookmark : sync?.listedText) ?? null,
        date: received.date,
        readAt: facts.readAt,
      });
  const isPartial = received.rejects.length > 0 || listed.source === null;
  const { contentHash, hashesTrustedSince } = facts;
  const isHashTrusted = hashesTrustedSince === null || (sync?.contentReadAt ?? 0) >= hashesTrustedSince;
  return {
    isSame: isHashTrusted && !isPartial && stored?.state === "live" && sync?.contentHash === contentHash,
    listed,
    metadata: received.metadata,
    scenarios: received.scenarios,
    rejects: received.rejects,
    isPartial,
    before: sync,
    contentHash,
    bookmarkSeenAt,
    settlesAt: windowEnd({ bookmark: listed.lastModified, bookmarkSeenAt }),
    contentReadAt: facts.readAt,
    contentAsOf: isCached ? facts.readAt - received.cachedMs - CACHE_MARGIN_MS : null,
    suspectReads: suspect ? (isSameText ? suspectBefore : 0) + 1 : isMetadataKept ? suspectBefore : 0,
  };
}

/**
 * Whether the service changed content without dating the change: a forced or full read of a library with a settled date received
 * other content. Rows that another program altered do not count. The hash is null if the content cannot be stored.
 */
export function isSilent({ stored, reason }: ReadAction, contentHash: string | null): boolean {
  const sync = stored?.sync ?? null;
  const isFull = reason === "forced" || reason === "due for a full read";
  return isFull && sync !== null && isSettled(sync) && sync.contentHash !== contentHash;
}

/** An absent, null or empty name counts as the requested one. */
const nameIn = (metadata: Metadata, key: LibraryKey) => metadata.libraryName || key.name;

/** Whether metadata has another library's name than the requested one, byte for byte. Then it may be another library's. */
export function hasOtherName(metadata: Metadata, key: LibraryKey): boolean {
  return nameIn(metadata, key) !== key.name;
}

/** The owner's listed library that metadata names instead of the requested one, or null. The libraryOwner may be an organization. */
export function findOtherListed(metadata: Metadata, key: LibraryKey, isListed: (key: LibraryKey) => boolean) {
  const other = { owner: key.owner, name: nameIn(metadata, key) };
  return hasOtherName(metadata, key) && isListed(other) ? other : null;
}

/** Whether metadata may be another library's: by its name, or because its libraryOwner has a listed library of that name. */
export function mayBeOther(metadata: Metadata, key: LibraryKey, isListed: (key: LibraryKey) => boolean): boolean {
  const owner = metadata.libraryOwner || key.owner;
  return hasOtherName(metadata, key) || (owner !== key.owner && isListed({ owner, name: key.name }));
}

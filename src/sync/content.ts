import { hash } from "node:crypto";
import type { ContentRead, LibraryContent, ReadAction, ScenarioSet } from "../model.ts";
import { HASH_VERSION } from "./hash-version.ts";
import { hasOtherName } from "./rules/named-library.ts";
import { isDoubtful, isSettled, seenAtForStore, windowEndOf } from "./rules/settle.ts";

export interface ContentFacts {
  /** Last byte of the run's listing, in database ms. */
  readonly listedAt: number;
  readonly serviceTimezone: string;
  /**
   * Content that was last read before this moment, in database ms, is compared row by row even if its hash is unchanged:
   * this repairs rows that another program altered. Null trusts every hash.
   */
  readonly hashesSince: number | null;
}

/** What to store of one library (`read.startedAt` in database ms), and under which bookmark, from what was planned, read, and stored before. */
export function toContent(
  action: ReadAction,
  read: ContentRead,
  scenarios: ScenarioSet,
  facts: ContentFacts,
): LibraryContent {
  const { listed, stored } = action;
  const sync = stored?.sync ?? null;
  const contentHash = hashOf(action, read, facts);
  const isHashTrusted = facts.hashesSince === null || (sync?.contentReadAt ?? 0) >= facts.hashesSince;
  const isWhole = read.rejects.length === 0 && listed.source !== null;
  const sameText = sync !== null && sync.listedText === listed.lastModified && stored?.removed === false;
  const isMisnamed = read.metadata !== null && hasOtherName(read.metadata, listed.key);
  const doubtful = isMisnamed || isDoubtful(listed.lastModified, read.metadata?.lastModified ?? null, read.cached);
  const bookmarkSeenAt = seenAt(action, read, { sameText, doubtful }, facts);
  return {
    listed,
    metadata: read.metadata,
    scenarios,
    rejects: read.rejects,
    isNew: stored?.stored !== true,
    isSame: isHashTrusted && isWhole && stored?.stored === true && !stored.removed && sync?.contentHash === contentHash,
    failedBefore: sync !== null && sync.failures > 0,
    hadRejects: sync !== null && (sync.rereadReason !== null || sync.failures > 0),
    hadAbsences: sync?.shrunkRunId != null,
    contentHash,
    bookmarkSeenAt,
    settlesAt: windowEndOf(listed.lastModified, bookmarkSeenAt),
    contentReadAt: read.startedAt,
    suspectReads: doubtful ? (sameText ? (sync?.suspectReads ?? 0) : 0) + 1 : 0,
  };
}

/** Text that was stored before, in the same stretch, was judged then; whatever is new may be old enough to settle at once. */
function seenAt(
  { listed, stored }: ReadAction,
  read: ContentRead,
  { sameText, doubtful }: { readonly sameText: boolean; readonly doubtful: boolean },
  facts: ContentFacts,
): number {
  const sync = stored?.sync ?? null;
  const known = sameText ? (sync?.bookmarkSeenAt ?? null) : null;
  // What was seen later than now was seen by a clock that has been set back since: it is judged anew.
  const isAhead = known !== null && known > facts.listedAt;
  const listedAt = known === null || isAhead ? facts.listedAt : known;
  if (doubtful || (sameText && !isAhead && sync?.bookmark === listed.lastModified)) return listedAt;
  return seenAtForStore({
    listedText: listed.lastModified,
    listedAt,
    previousText: (sameText ? sync?.bookmark : sync?.listedText) ?? null,
    date: read.date,
    readAt: read.startedAt,
  });
}

/** A forced or full read that finds other content under an unchanged, settled text: the service did not date a change. */
export function isSilent({ stored, reason }: ReadAction): boolean {
  return (reason === "forced" || reason === "due for a full read") && stored?.sync != null && isSettled(stored.sync);
}

function hashOf({ listed }: ReadAction, { digest }: ContentRead, { serviceTimezone }: ContentFacts): string {
  return hash("sha256", JSON.stringify([HASH_VERSION, serviceTimezone, listed.source, digest]), "base64url");
}

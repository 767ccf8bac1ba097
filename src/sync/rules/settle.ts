import { spreadOf } from "../../key.ts";
import type { LibraryKey, StoredLibrary, SyncState } from "../../model.ts";
import { latestInstant, MAX_PRECISION_MS, parseDate, precisionOf, sameMoment, UTC } from "../../parse-values.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../units.ts";

/** For clocks that are a little off, and for services whose listing runs a little ahead of their content. */
const SETTLE_MARGIN_MS = 2 * MINUTE_MS;

/** A cache counts whole seconds, from a moment that only the cache knows. */
export const CACHE_MARGIN_MS = MINUTE_MS;

/** After this many suspect reads under one date, a library is read less and less often. */
export const SUSPECT_READS = 3;

/** After this many failures in a row, a library is tried at doubling distances, the first of which is `FIRST_RETRY_MS`. */
const BACKOFF_FAILURES = 3;
const FIRST_RETRY_MS = 15 * MINUTE_MS;
const MAX_RETRY_DISTANCE_MS = 6 * HOUR_MS;

/** The last moment at which an edit could have the bookmark's date, in database ms; null if unknown. */
export function windowEnd(sync: Pick<SyncState, "bookmark" | "bookmarkSeenAt">): number | null {
  const { bookmark: text, bookmarkSeenAt: seenAt } = sync;
  return text && seenAt !== null ? seenAt + precisionOf(text) + SETTLE_MARGIN_MS : null;
}

/** Corrects `bookmarkSeenAt` of a library that was read through the views: they show the end of its date's window instead. */
export function withSeenAt(stored: StoredLibrary): StoredLibrary {
  const { sync } = stored;
  if (sync === null || sync.bookmarkSeenAt === null) return stored;
  const windowMs = windowEnd({ ...sync, bookmarkSeenAt: 0 }) ?? 0;
  return { ...stored, sync: { ...sync, bookmarkSeenAt: sync.bookmarkSeenAt - windowMs } };
}

/** Whether an equal listed date proves that the stored content is current. */
export function isSettled(sync: SyncState): boolean {
  const { bookmark, bookmarkSeenAt: seenAt, contentReadAt: readAt } = sync;
  if (!bookmark || sync.listedText !== bookmark || seenAt === null || readAt === null) return false;
  if (sync.suspectReads > 0 || sync.rereadReason !== null) return false;
  // Parsing the date is the most expensive part of a plan, and most bookmarks are older than any precision.
  const longestEnd = seenAt + MAX_PRECISION_MS + SETTLE_MARGIN_MS;
  return readAt > longestEnd || readAt > (windowEnd(sync) ?? longestEnd);
}

/**
 * When a library with an unsettled bookmark is read next, in database ms; null if it is settled. The library is listed with
 * its bookmark and has no `reread_reason`. The time since the date was first seen doubles with each read. One read follows the end
 * of the window.
 */
export function nextReadAt(sync: SyncState): number | null {
  if (isSettled(sync)) return null;
  const { contentReadAt: readAt, bookmarkSeenAt: seenAt } = sync;
  const end = windowEnd(sync);
  if (readAt === null || seenAt === null || end === null) return readAt ?? 0;
  // After the last read another date was listed, and then the bookmark's again: that read proves nothing.
  if (sync.listedText !== sync.bookmark) return readAt;
  if (sync.suspectReads > 0 && sync.suspectReads < SUSPECT_READS) return readAt;
  // A cache expires some day, so the wait does not grow beyond a day.
  const distance = sync.suspectReads > 0 ? Math.min(readAt - seenAt, DAY_MS) : readAt - seenAt;
  const doubled = readAt + distance;
  return readAt <= end ? Math.min(doubled, end + 1) : doubled;
}

/** Whether the last run that tried the library could not read it: it may be broken itself. */
export function hasFailed(stored: StoredLibrary | null): boolean {
  return (stored?.sync?.failures ?? 0) > 0;
}

type FailureState = Pick<SyncState, "failures" | "lastFailedAt" | "bookmarkSeenAt">;

/**
 * When a library that failed several times in a row is tried next, in database ms. Null if the next run tries it: it has not
 * failed so often, or its date changed or it returned after the last failure.
 */
export function nextTryAt({ failures, lastFailedAt, bookmarkSeenAt }: FailureState): number | null {
  if (failures < BACKOFF_FAILURES || lastFailedAt === null || (bookmarkSeenAt ?? 0) > lastFailedAt) return null;
  return lastFailedAt + Math.min(FIRST_RETRY_MS * 2 ** (failures - BACKOFF_FAILURES), MAX_RETRY_DISTANCE_MS);
}

/** Whether a failing library is not tried yet. A failure in the future was saved before the clock was set back. */
export function isBackingOff(now: number, sync: SyncState): boolean {
  const until = nextTryAt(sync);
  return until !== null && now < until && (sync.lastFailedAt ?? 0) <= now + SETTLE_MARGIN_MS;
}

/** When a listed date was seen and its content read. Times are database ms, except `date`. */
interface Sighting {
  readonly listedText: string | null;
  /** When the last byte arrived of the listing that first had this date. No other date was listed since. */
  readonly listedAt: number;
  /** The date that was listed before; null if there was none. */
  readonly previousText: string | null;
  /** The earliest `Date` header of the content's responses, in ms; null if one had none. */
  readonly date: number | null;
  /** When the content read began. */
  readonly readAt: number;
}

/**
 * The `bookmarkSeenAt` to store. A date that was in the past at the read, whatever its zone, settles at once: no edit could have it at
 * that moment. Its window must end before the read, so it counts as seen one precision before `latestInstant`.
 */
export function seenAtForStore(sighting: Sighting): number {
  const { listedText, listedAt, date, readAt } = sighting;
  const latest = listedText ? latestInstant(listedText) : null;
  if (!listedText || latest === null || date === null || wentBack(sighting)) return listedAt;
  const isPast = latest + SETTLE_MARGIN_MS < Math.min(date, readAt);
  return isPast ? Math.min(listedAt, latest - precisionOf(listedText)) : listedAt;
}

/** A date that is older than the one before it, or cannot be compared, is not the moment of the edit. */
function wentBack({ listedText, previousText }: Sighting): boolean {
  if (previousText === null || previousText === listedText) return false;
  const before = parseDate(previousText, UTC);
  const after = parseDate(listedText ?? "", UTC);
  if (before === null || after === null || (before.offsetMs === null) !== (after.offsetMs === null)) return true;
  return before.at > after.at || (before.at === after.at && before.micros > after.micros);
}

/** Whether a read must not settle its date: a cache may have answered, or the metadata has another date. */
export function isSuspect(listedText: string | null, metadataText: string | null, cached: boolean): boolean {
  return cached || sameMoment(listedText, metadataText) === false;
}

/** When the content is read even if its date is unchanged, in database ms: after half of `fullEveryMs` to all of it. */
export function fullReadDueAt(sync: SyncState, key: LibraryKey, fullEveryMs: number): number {
  return (sync.contentReadAt ?? 0) + fullEveryMs * (0.5 + 0.5 * spreadOf(key));
}

export function isFullReadDue(now: number, sync: SyncState, key: LibraryKey, fullEveryMs: number): boolean {
  // A read in the future was stored before the clock was set back, so its age is unknown.
  if ((sync.contentReadAt ?? 0) > now + SETTLE_MARGIN_MS) return true;
  // The key is hashed only for libraries that might be due, which are few.
  return now >= (sync.contentReadAt ?? 0) + fullEveryMs / 2 && now >= fullReadDueAt(sync, key, fullEveryMs);
}

/** When a read of the library last failed or was stored, in database ms; null if never. */
export function lastTriedAt(sync: SyncState): number | null {
  return sync.failures > 0 ? (sync.lastFailedAt ?? sync.contentReadAt) : sync.contentReadAt;
}

/**
 * Whether the last attempt to read the library (or, if there was none, its first listing) is more than `fullEveryMs` ago. A
 * library that always fails is overdue only once in `fullEveryMs`, so that it cannot delay every run.
 */
export function isOverdue(now: number, sync: SyncState, fullEveryMs: number): boolean {
  const since = lastTriedAt(sync) ?? sync.bookmarkSeenAt;
  // A moment in the future was stored before the clock was set back, so its age is unknown.
  return since !== null && (since > now + SETTLE_MARGIN_MS || now - since >= fullEveryMs);
}

import { spreadOf } from "../../key.ts";
import type { LibraryKey, SyncState } from "../../model.ts";
import { DAY_MS } from "../../units.ts";
import { grainOf, LONGEST_GRAIN_MS, latestInstant, type ReadDate, readDate, sameMoment } from "./dates.ts";

/** For clocks that are a little off, and for services whose listing runs a little ahead of their content. */
const SETTLE_MARGIN_MS = 2 * 60_000;

/** So many doubtful reads of one text are tried at once, then only now and then. */
export const DOUBTFUL_READS = 3;

/** The last moment at which an edit could still carry the bookmark's text, in database ms; null when unknown. */
export function windowEnd(sync: SyncState): number | null {
  return windowEndOf(sync.bookmark, sync.bookmarkSeenAt);
}

export function windowEndOf(text: string | null, seenAt: number | null): number | null {
  return text && seenAt !== null ? seenAt + grainOf(text) + SETTLE_MARGIN_MS : null;
}

/** Whether an equal listed text proves that the stored content is still the service's. */
export function isSettled(sync: SyncState): boolean {
  const { bookmark, bookmarkSeenAt: seenAt, contentReadAt: readAt } = sync;
  if (!bookmark || sync.listedText !== bookmark || seenAt === null || readAt === null) return false;
  if (sync.suspectReads > 0 || sync.rereadReason !== null) return false;
  // Reading the grain is the dearest part of a plan, and most bookmarks are older than any.
  const longestEnd = seenAt + LONGEST_GRAIN_MS + SETTLE_MARGIN_MS;
  return readAt > longestEnd || readAt > (windowEnd(sync) ?? longestEnd);
}

/**
 * When a bookmark that is not settled wants its next read, in database ms; null when it is settled.
 * The distance from the first sight doubles with each read, and one read follows the window's end: a handful in all.
 * It speaks of a library whose listed text equals its bookmark and that owes nothing.
 */
export function nextReadAt(sync: SyncState): number | null {
  if (isSettled(sync)) return null;
  const { contentReadAt: readAt, bookmarkSeenAt: seenAt } = sync;
  const end = windowEnd(sync);
  if (readAt === null || seenAt === null || end === null) return readAt ?? 0;
  // Another text was listed since: what was read lies before this stretch of the bookmark and proves nothing about it.
  if (sync.listedText !== sync.bookmark) return readAt;
  if (sync.suspectReads > 0 && sync.suspectReads < DOUBTFUL_READS) return readAt;
  // A cache forgets some day: what it held back need not wait for as long again as it was held back.
  const distance = sync.suspectReads > 0 ? Math.min(readAt - seenAt, DAY_MS) : readAt - seenAt;
  const doubled = readAt + distance;
  return readAt <= end ? Math.min(doubled, end + 1) : doubled;
}

/** What is known about a listed text when the content read under it is stored. Times are database ms but for `date`. */
export interface Sighting {
  readonly listedText: string | null;
  /** Last byte of the listing that first showed the text in its present unbroken stretch. */
  readonly listedAt: number;
  /** The text that it replaces, as listed before; null when there was none. */
  readonly previousText: string | null;
  /** Earliest `Date` of the content's answers in ms; null when one had none. */
  readonly date: number | null;
  /** When the content read began. */
  readonly readAt: number;
}

/**
 * The `bookmarkSeenAt` to store. It is `listedAt`, but for a date that lay wholly in the past at the read, in whatever
 * zone: no edit could carry it then, so waiting would prove nothing. Such a text must have been given out by
 * `latestInstant`; as if seen one grain before that, its window ends at latestInstant + margin: before the read.
 */
export function seenAtForStore(sighting: Sighting): number {
  const { listedText, listedAt, date, readAt } = sighting;
  const latest = listedText ? latestInstant(listedText) : null;
  if (!listedText || latest === null || date === null || wentBack(sighting)) return listedAt;
  const isPast = latest + SETTLE_MARGIN_MS < Math.min(date, readAt);
  return isPast ? Math.min(listedAt, latest - grainOf(listedText)) : listedAt;
}

/** An older date than the one before, or one that cannot be compared, is not the moment of the edit. */
function wentBack({ listedText, previousText }: Sighting): boolean {
  if (previousText === null || previousText === listedText) return false;
  const before = readDate(previousText, "UTC");
  const after = readDate(listedText ?? "", "UTC");
  return before === null || after === null || before.zoned !== after.zoned || isLater(before, after);
}

function isLater(a: ReadDate, b: ReadDate): boolean {
  return a.at > b.at || (a.at === b.at && a.micros > b.micros);
}

/** Whether a read must not settle its text: it may come from a cache, or its metadata tells of another moment. */
export function isDoubtful(listedText: string | null, metadataText: string | null, cached: boolean): boolean {
  return cached || sameMoment(listedText, metadataText) === false;
}

/** When the content is read whatever its date says, in database ms: between half of `fullEveryMs` and all of it. */
export function fullReadDueAt(sync: SyncState, key: LibraryKey, fullEveryMs: number): number {
  return (sync.contentReadAt ?? 0) + fullEveryMs * (0.5 + 0.5 * spreadOf(key));
}

export function isFullReadDue(now: number, sync: SyncState, key: LibraryKey, fullEveryMs: number): boolean {
  // A read that lies ahead was stored by a clock that has been set back since: nobody knows how old it is.
  if ((sync.contentReadAt ?? 0) > now + SETTLE_MARGIN_MS) return true;
  // Nearly all are far from it, so the key is hashed for those alone that might be due.
  return now >= (sync.contentReadAt ?? 0) + fullEveryMs / 2 && now >= fullReadDueAt(sync, key, fullEveryMs);
}

/** When a read of the library was last tried, in database ms: its failure, or its last stored read. Null: never. */
export function lastTriedAt(sync: SyncState): number | null {
  return sync.failures > 0 ? (sync.lastFailedAt ?? sync.contentReadAt) : sync.contentReadAt;
}

/**
 * Whether the library waits for longer than `fullEveryMs` since it was last tried, or since its text was listed when it
 * never was. A library that fails each time is overdue once in `fullEveryMs` only, so that it cannot hold up every run.
 */
export function isOverdue(now: number, sync: SyncState, fullEveryMs: number): boolean {
  const since = lastTriedAt(sync) ?? sync.bookmarkSeenAt;
  // A moment in the future was stored by a clock that has been set back since: the age is unknown.
  return since !== null && (since > now + SETTLE_MARGIN_MS || now - since >= fullEveryMs);
}

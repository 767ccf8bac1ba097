import type { LibraryRows } from "../db/read/read-library-record.ts";
import type { FailingLibrary } from "../db/read/read-status.ts";
import { formatCount, formatMoment } from "../format.ts";
import type { Decision, ReadReason, SyncState } from "../model.ts";
import { decide } from "../sync/rules/decide.ts";
import { fullReadDueAt, isSettled, nextReadAt, nextTryAt, windowEnd } from "../sync/rules/settle.ts";
import { DAY_MS } from "../units.ts";

/** What the next run will do with a library if the listing still contains, or still lacks, it in the same way. */
export type Verdict =
  | Extract<Decision, { kind: "read" }>
  /** Not read before `until`, in database ms. */
  | (Extract<Decision, { kind: "skip" }> & { readonly until: number })
  /** Read at `until`, in database ms, or before: the views show neither a new listed date nor suspect reads. */
  | { readonly kind: "unknown"; readonly reason: "settling" | "backing off"; readonly until: number }
  /** Not listed, and its removal is held since `heldSince`, in database ms. */
  | { readonly kind: "none"; readonly reason: "removal held"; readonly heldSince: number }
  | { readonly kind: "none"; readonly reason: "removed" | "rejected" | "forgotten" };

export function judge({ key, source, now, stored, rejects }: LibraryRows, fullEveryMs: number): Verdict {
  if (stored === null) return { kind: "none", reason: rejects.open > 0 ? "rejected" : "forgotten" };
  if (stored.state === "removed") return { kind: "none", reason: "removed" };
  const { sync } = stored;
  if (sync === null) return { kind: "read", reason: "never read" };
  if (sync.removalHeldAt !== null) return { kind: "none", reason: "removal held", heldSince: sync.removalHeldAt };
  // Only the date matters here: an entry with rejects has set the reread reason.
  const listed = { key, lastModified: sync.listedText, source: "{}" };
  const decision = decide(listed, stored, { now: now.getTime(), fullEveryMs, backfillSince: null });
  const isUncertain = source === "views";
  if (decision.kind === "read") {
    const maySettle = isUncertain && decision.reason === "not settled yet" && sync.suspectReads > 0;
    return maySettle
      ? { kind: "unknown", reason: "settling", until: nextReadBy(sync, source) ?? now.getTime() }
      : decision;
  }
  const { reason } = decision;
  const nextAt = Math.min(nextReadAt(sync) ?? Infinity, fullReadDueAt(sync, key, fullEveryMs));
  const until = reason === "backing off" ? (nextTryAt(sync) ?? now.getTime()) : nextAt;
  return isUncertain && reason !== "unchanged" ? { kind: "unknown", reason, until } : { ...decision, until };
}

/** When it is read, if it is listed. The views do not show how many reads are suspect: they have the latest time, after a day. */
const nextReadBy = (sync: SyncState, source: LibraryRows["source"]) =>
  source === "views" && sync.suspectReads > 0 ? (sync.contentReadAt ?? 0) + DAY_MS : nextReadAt(sync);

const READ_REASONS: Readonly<Record<ReadReason, string>> = {
  "never read": "none of its content is stored",
  "listed date changed": "the last listed date is not the one under which its content was stored completely",
  "no listed date": "only reading it shows whether it has changed",
  "owes a read: rejects": "some items of the last read could not be stored",
  "owes a read: failure": "the last read failed",
  "owes a read: shrunk": "its list lost too many scenarios at once; a second read must confirm that",
  "owes a read: restored": "it was removed and is listed again",
  "not settled yet": "it may have changed after the last read without a new date",
  "due for a full read": "its last read is older than SIMCAT_FULL_EVERY allows",
  forced: "a backfill reads every library",
};

/** One or two plain sentences. */
export function formatVerdict(verdict: Verdict, { now, stored, library }: LibraryRows): string {
  if (verdict.kind === "read") {
    return `It will be read by the next run: ${verdict.reason} (${READ_REASONS[verdict.reason]}).`;
  }
  if (verdict.kind === "none") return formatNone(verdict, library?.removedAt ?? null, now);
  const until = momentOf(verdict.until, now);
  if (verdict.kind === "unknown") {
    const why = verdict.reason === "settling" ? "its date is still settling" : "its last reads failed";
    return `Its next read is due ${until} at the latest: ${why}. This role does not see whether a read is due before.`;
  }
  if (verdict.reason === "unchanged") return `It will be skipped: unchanged and settled; next full read due ${until}.`;
  if (verdict.reason === "backing off") {
    return `It will be skipped for now: its last ${formatCount(stored?.sync?.failures ?? 0)} reads failed; next try ${until}, or at once if its listed date changes or simcat sync --library names it.`;
  }
  const end = stored?.sync ? windowEnd(stored.sync) : null;
  const window = end === null ? "" : ` its window ends ${momentOf(end, now)},`;
  return `It will be skipped for now: unchanged, but its date is still settling;${window} next read due ${until}.`;
}

function formatNone(verdict: Extract<Verdict, { kind: "none" }>, removedAt: Date | null, now: Date): string {
  switch (verdict.reason) {
    case "removal held":
      return `It will not be read while the listing lacks it. A guard has held its removal since ${momentOf(verdict.heldSince, now)}; this ends when the service itself lists it again (a cache does not count), or with simcat sync --allow-removals.`;
    case "removed":
      return `It will not be read unless it is listed again: removed ${formatMoment(removedAt, now)}. If a run finds it listed, it is restored and read.`;
    case "rejected":
      return "It will not be read: the service lists it, but its entry cannot be stored or requested; see its rejects.";
    case "forgotten":
      return "It will not be read unless it is listed again: only resolved rejects remain.";
  }
}

/** "yes" if an unchanged listed date proves that the stored content is current. Otherwise "no", the reason, and the next read if it is listed. */
export function formatSettled(sync: SyncState, { now, source }: LibraryRows, isListed: boolean): string {
  if (isSettled(sync)) return "yes";
  // The views have the date under which it is stored.
  if (!sync.listedText && source === "tables") return "no: the service lists no date";
  if (!sync.bookmark) return "no: its content has not been stored completely under a date yet";
  if (sync.listedText !== sync.bookmark) return "no: the listed date is not the bookmark";
  if (sync.rereadReason !== null) return "no: it owes a read";
  const latest = source === "views" ? " at the latest" : "";
  const due = isListed ? `; next read due ${momentOf(nextReadBy(sync, source), now)}${latest}` : "";
  if (sync.suspectReads > 0) {
    const reads = sync.suspectReads === 1 ? "read" : `${formatCount(sync.suspectReads)} reads`;
    return `no: the last ${reads} may have been answered by a cache, or named another date or library than the listing${due}`;
  }
  const end = windowEnd(sync);
  const window = momentOf(end, now);
  return end !== null && now.getTime() > end
    ? `no: not read since its window ended ${window}${due}`
    : `no: its window ends ${window}${due}`;
}

/** `ms` is in database ms; null if the time is not known. */
export const dateOf = (ms: number | null) => (ms === null ? null : new Date(ms));
export const momentOf = (ms: number | null, now: Date) => formatMoment(dateOf(ms), now);

/** When a failing library is tried next; null if the next run tries it, or none does while its removal is held. */
export function nextTryOf({ failures, lastFailedAt, bookmarkSeenAt, removalHeldAt }: FailingLibrary): Date | null {
  if (removalHeldAt !== null) return null;
  const [failedMs, seenMs] = [lastFailedAt?.getTime() ?? null, bookmarkSeenAt?.getTime() ?? null];
  return dateOf(nextTryAt({ failures, lastFailedAt: failedMs, bookmarkSeenAt: seenMs }));
}

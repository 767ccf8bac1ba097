import type { Decision, ListedLibrary, StoredLibrary } from "../../model.ts";
import { isBackingOff, isFullReadDue, isSettled, nextReadAt } from "./settle.ts";

export interface PlanContext {
  /** Start of the listing, in database ms. */
  readonly now: number;
  readonly fullEveryMs: number;
  /** When the backfill began that this run belongs to, in database ms; null for a sync. */
  readonly backfillSince: number | null;
  /** The run names libraries: it tries them, also those that are backing off. */
  readonly namesLibraries?: boolean;
}

/** Whether one listed library is read, and why: the first reason that applies. A library that backs off is skipped whatever it owes. */
export function decide(listed: ListedLibrary, stored: StoredLibrary | null, context: PlanContext): Decision {
  const sync = stored?.sync ?? null;
  // If this date was seen before, but its content was not stored completely, the reason is `reread_reason`.
  const isNewDate = listed.lastModified !== (sync?.listedText ?? null);
  const isForced = context.backfillSince !== null || context.namesLibraries;
  if (sync !== null && stored?.state !== "removed" && !isNewDate && !isForced && isBackingOff(context.now, sync)) {
    return { kind: "skip", reason: "backing off" };
  }
  if (stored === null || stored.state === "listed" || sync === null || sync.contentReadAt === null) {
    return { kind: "read", reason: "never read" };
  }
  if (!listed.lastModified) return { kind: "read", reason: "no listed date" };
  if (listed.lastModified !== sync.bookmark && (isNewDate || sync.rereadReason === null)) {
    return { kind: "read", reason: "listed date changed" };
  }
  if (sync.rereadReason !== null) return { kind: "read", reason: `owes a read: ${sync.rereadReason}` };
  // Its entry, or one of several with its name, was rejected in this listing.
  if (listed.source === null) return { kind: "read", reason: "owes a read: rejects" };
  if (stored.state === "removed") return { kind: "read", reason: "owes a read: restored" };
  const settled = isSettled(sync);
  if (!settled && context.now >= (nextReadAt(sync) ?? 0)) return { kind: "read", reason: "not settled yet" };
  if (isFullReadDue(context.now, sync, listed.key, context.fullEveryMs)) {
    return { kind: "read", reason: "due for a full read" };
  }
  if (context.backfillSince !== null && sync.contentReadAt < context.backfillSince) {
    return { kind: "read", reason: "forced" };
  }
  return { kind: "skip", reason: settled ? "unchanged" : "settling" };
}

import type { Decision, ListedLibrary, StoredLibrary } from "../../model.ts";
import { isFullReadDue, isSettled, nextReadAt } from "./settle.ts";

export interface PlanContext {
  /** Start of the listing, in database ms. */
  readonly now: number;
  readonly fullEveryMs: number;
  /** When the backfill began that this run belongs to, in database ms; null for a sync. */
  readonly backfillSince: number | null;
  /** When a cache took the listing that it answered: of what was read later it says nothing. Absent: no cache answered. */
  readonly cachedAt?: number;
}

/** Whether one listed library is read, and why: the first reason that holds. Skipping needs every proof. */
export function decide(listed: ListedLibrary, stored: StoredLibrary | null, context: PlanContext): Decision {
  const sync = stored?.sync ?? null;
  if (stored === null || stored.state === "listed" || sync === null || sync.contentReadAt === null) {
    return { kind: "read", reason: "never read" };
  }
  if (!listed.lastModified) return { kind: "read", reason: "no listed date" };
  // What is owed under a text that was seen before is no news, though the bookmark may be older.
  const isNews = listed.lastModified !== sync.listedText;
  if (listed.lastModified !== sync.bookmark && (isNews || sync.rereadReason === null)) {
    return { kind: "read", reason: "listed date changed" };
  }
  if (sync.rereadReason !== null) return { kind: "read", reason: `owes a read: ${sync.rereadReason}` };
  // Its entry, or one of several under its name, is a reject of this very listing.
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
  return { kind: "skip", reason: settled ? "unchanged" : "not settled yet" };
}

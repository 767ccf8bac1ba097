import { keyText } from "../key.ts";
import type { Decision, ListedLibrary, ReadAction, Selection, StoredLibrary } from "../model.ts";
import { selectorOf } from "./selection.ts";
import { isFullReadDue, isSettled, nextReadAt } from "./settle.ts";

export interface PlanContext {
  /** Start of the listing, in database ms. */
  readonly now: number;
  readonly fullEveryMs: number;
  /** When the backfill began that this run belongs to, in database ms; null for a sync. */
  readonly backfillSince: number | null;
}

export interface Plan {
  /** In the order in which they are to be read. */
  readonly actions: readonly ReadAction[];
  readonly skipped: Readonly<Record<Extract<Decision, { kind: "skip" }>["reason"], number>>;
  /** Live in the store, in scope, and not listed. */
  readonly missing: readonly StoredLibrary[];
  readonly listedInScope: number;
}

/** Whether one listed library is read, and why: the first reason that holds. Skipping needs every proof. */
export function decide(listed: ListedLibrary, stored: StoredLibrary | null, context: PlanContext): Decision {
  const sync = stored?.sync ?? null;
  if (!stored?.stored || sync === null || sync.contentReadAt === null) return { kind: "read", reason: "never read" };
  if (!listed.lastModified) return { kind: "read", reason: "no listed date" };
  // What is owed under a text that was seen before is no news, though the bookmark may be older.
  const isNews = listed.lastModified !== sync.listedText;
  if (listed.lastModified !== sync.bookmark && (isNews || sync.owes === null)) {
    return { kind: "read", reason: "listed date changed" };
  }
  if (sync.owes !== null) return { kind: "read", reason: `owes a read: ${sync.owes}` };
  if (stored.removed) return { kind: "read", reason: "owes a read: restored" };
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

/** The whole run: `stored` holds what is stored by `keyText`, removed libraries too. */
export function planSync(
  listing: readonly ListedLibrary[],
  stored: ReadonlyMap<string, StoredLibrary>,
  context: PlanContext,
  selection: Selection,
): Plan {
  const isSelected = selectorOf(selection);
  const actions: ReadAction[] = [];
  const skipped = { unchanged: 0, "not settled yet": 0 };
  const seen = new Set<StoredLibrary>();
  let listedInScope = 0;
  for (const listed of listing) {
    const row = stored.get(keyText(listed.key)) ?? null;
    if (row !== null) seen.add(row);
    if (!isSelected(listed.key)) continue;
    listedInScope += 1;
    const decision = decide(listed, row, context);
    if (decision.kind === "read") actions.push({ listed, stored: row, reason: decision.reason });
    else skipped[decision.reason] += 1;
  }
  const missing = [...stored.values()].filter(
    (row) => row.stored && !row.removed && !seen.has(row) && isSelected(row.key),
  );
  return { actions: orderActions(actions), skipped, missing, listedInScope };
}

const RANKS: Readonly<Record<ReadAction["reason"], number>> = {
  "never read": 0,
  "listed date changed": 0,
  "owes a read: rejects": 1,
  "owes a read: failure": 1,
  "owes a read: shrunk": 1,
  "owes a read: restored": 1,
  "no listed date": 2,
  "not settled yet": 2,
  "due for a full read": 3,
  forced: 3,
};
const LAST = 4;

/** News first, so that a run cut short did the most good; what failed last time last, so that it holds up nobody. */
export function orderActions(actions: readonly ReadAction[]): ReadAction[] {
  return actions.toSorted((a, b) => rankOf(a) - rankOf(b));
}

function rankOf(action: ReadAction): number {
  return (action.stored?.sync?.failures ?? 0) > 0 ? LAST : RANKS[action.reason];
}

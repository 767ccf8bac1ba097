import type {
  Decision,
  LibraryKey,
  ListedLibraries,
  ListedLibrary,
  ReadAction,
  Selection,
  StoredLibrary,
} from "../../model.ts";
import { decide, type PlanContext } from "./decide.ts";
import { selectorOf } from "./selection.ts";
import { isOverdue, lastTriedAt } from "./settle.ts";

export interface Plan {
  /** In the order in which they are to be read. */
  readonly actions: readonly ReadAction[];
  readonly skipped: Readonly<Record<Extract<Decision, { kind: "skip" }>["reason"], number>>;
  /** Live in the store, in scope, and not listed. */
  readonly missing: readonly LibraryKey[];
  /** Those of the missing ones whose removal no earlier run held. */
  readonly unheld: readonly LibraryKey[];
  /** The same, but for their having been read after a cache took the listing. */
  readonly unsaid: readonly LibraryKey[];
  /** Listed once, never stored, in scope, and not listed any more. */
  readonly strangers: readonly LibraryKey[];
  /** Listed for the first time or under another text than the last time, in scope or not. */
  readonly changed: readonly ListedLibrary[];
  /** Marked as removed, and listed again, in scope. */
  readonly restored: readonly LibraryKey[];
  /** Listed again after an earlier run held their removal, in scope or not. */
  readonly returned: readonly LibraryKey[];
  /** Since when removals are held without a break, in database ms; null when none is held. */
  readonly heldSince: number | null;
  readonly listedInScope: number;
  /** Live in the store, in scope or not, and how many of those are listed. */
  readonly live: { readonly count: number; readonly listed: number };
}

/** Makes a plan of a listing and of what is stored, one stored library after the other, in whatever order. */
export interface Planner {
  meet(stored: StoredLibrary): void;
  finish(): Plan;
}

const UNMET = 0;
const NEWS = 1;
const SAME_TEXT = 2;

/** The whole run. What needs no read is counted and forgotten, so that a million libraries take little room. */
export function openPlan(listing: ListedLibraries, context: PlanContext, selection: Selection): Planner {
  const isSelected = selectorOf(selection);
  const { cachedAt = Number.POSITIVE_INFINITY } = context;
  /** Of each listed library: was it met, and under which text? */
  const states = new Uint8Array(listing.length);
  const reads = new Map<number, ReadAction>();
  const skipped = { unchanged: 0, "not settled yet": 0 };
  const live = { count: 0, listed: 0 };
  const missing: LibraryKey[] = [];
  const unheld: LibraryKey[] = [];
  const unsaid: LibraryKey[] = [];
  const strangers: LibraryKey[] = [];
  const restored: LibraryKey[] = [];
  const returned: LibraryKey[] = [];
  let heldSince: number | null = null;
  let listedInScope = 0;

  const consider = (listed: ListedLibrary, at: number, stored: StoredLibrary | null) => {
    if (!isSelected(listed.key)) return;
    listedInScope += 1;
    const decision = decide(listed, stored, context);
    if (decision.kind === "read") reads.set(at, { listed, stored, reason: decision.reason });
    else skipped[decision.reason] += 1;
  };

  return {
    meet(stored) {
      const { key } = stored;
      const isLive = stored.stored && !stored.removed;
      if (isLive) live.count += 1;
      const heldAt = stored.sync?.removalHeldAt ?? null;
      if (heldAt !== null) heldSince = Math.min(heldSince ?? heldAt, heldAt);
      const at = listing.find(key);
      if (at === undefined) {
        const isReadSince = (stored.sync?.contentReadAt ?? 0) >= cachedAt;
        if (!isSelected(key)) return;
        if (isLive) (isReadSince ? unsaid : missing).push(key);
        if (isLive && !isReadSince && heldAt === null) unheld.push(key);
        if (!stored.stored) strangers.push(key);
        return;
      }
      const listed = listing.at(at);
      if (isLive) live.listed += 1;
      if (heldAt !== null) returned.push(listed.key);
      states[at] = stored.sync?.listedText === listed.lastModified ? SAME_TEXT : NEWS;
      if (stored.removed && isSelected(key)) restored.push(listed.key);
      consider(listed, at, stored);
    },
    finish() {
      const changed: ListedLibrary[] = [];
      for (const [at, state] of states.entries()) {
        if (state === SAME_TEXT) continue;
        const listed = listing.at(at);
        changed.push(listed);
        if (state === UNMET) consider(listed, at, null);
      }
      const inListingOrder = [...reads].sort(([a], [b]) => a - b).map(([, action]) => action);
      return {
        actions: orderActions(inListingOrder, context),
        skipped,
        missing,
        unheld,
        unsaid,
        strangers,
        changed,
        restored,
        returned,
        heldSince,
        listedInScope,
        live,
      };
    },
  };
}

const OVERDUE = 0;
const RANKS: Readonly<Record<ReadAction["reason"], number>> = {
  "never read": 1,
  "listed date changed": 1,
  "owes a read: rejects": 2,
  "owes a read: failure": 2,
  "owes a read: shrunk": 2,
  "owes a read: restored": 2,
  "no listed date": 3,
  "not settled yet": 3,
  "due for a full read": 4,
  forced: 4,
};
const FAILED = 5;

/**
 * Reads news first, so that an interrupted run did the most good, and libraries that failed last time last. Within a rank the
 * oldest content is first, and overdue libraries lead all ranks: interrupted runs starve no library.
 */
export function orderActions(
  actions: readonly ReadAction[],
  context: Pick<PlanContext, "now" | "fullEveryMs">,
): ReadAction[] {
  const ranks: ReadAction[][] = Array.from({ length: FAILED + 1 }, () => []);
  for (const action of actions) ranks[rankOf(action, context)]?.push(action);
  return ranks.flatMap(oldestFirst);
}

function rankOf({ stored, reason }: ReadAction, context: Pick<PlanContext, "now" | "fullEveryMs">): number {
  const sync = stored?.sync ?? null;
  if (sync === null) return RANKS[reason];
  if (isOverdue(context.now, sync, context.fullEveryMs)) return OVERDUE;
  return sync.failures > 0 ? FAILED : RANKS[reason];
}

/** Libraries that were never tried sort first; of equal ones the listing's order is kept. */
function oldestFirst(actions: readonly ReadAction[]): ReadAction[] {
  // Sort indices by an array of times: 1.1 s for a million libraries in random order, against 3.2 s for the actions themselves.
  const times = Float64Array.from(actions, ({ stored }) => (stored?.sync ? (lastTriedAt(stored.sync) ?? 0) : 0));
  const order = Uint32Array.from(actions.keys()).sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0) || a - b);
  return Array.from(order, (at) => actions[at]).filter((action) => action !== undefined);
}

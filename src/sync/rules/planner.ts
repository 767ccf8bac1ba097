import type { LibraryKey, ListedLibraries, ListedLibrary, ReadAction, SkipReason, StoredLibrary } from "../../model.ts";
import { createTextList } from "../../off-heap.ts";
import type { Selection } from "../../run-summary.ts";
import { decide, type PlanContext } from "./decide.ts";
import { selectorOf } from "./selection.ts";
import { isOverdue, lastTriedAt } from "./settle.ts";

/*
 * The plan of a run over a million libraries, without an object for each (docs/decisions/0033-plan-of-numbers.md). It promises what lists
 * of objects would: each listed library in scope is judged as `decide` says, and `actions` and `newDates` are the same whenever they are
 * iterated. A reader who believes that may skip the typed arrays, the texts and the sorting. `addStored` has the rules for libraries
 * that are not listed.
 */

/** The libraries to read, and the other results of comparing the listing with the database. "In scope" means selected by this run. */
export type Plan = ReturnType<ReturnType<typeof createPlanner>["finish"]>;

export interface PlannerContext extends PlanContext {
  /** The listing shows nothing of this time or later, in database ms, because a cache had stored it before; infinite without a cache. */
  readonly blindSince: number;
}

const NOT_STORED = 0;
const NEW_DATE = 1;
const SAME_DATE = 2;

/** Compares a listing with the stored libraries, which are added one by one in any order. */
export function createPlanner(
  listing: ListedLibraries,
  parseStored: (text: string) => StoredLibrary,
  context: PlannerContext,
  selection: Selection,
) {
  const isSelected = selectorOf(selection);
  const { blindSince } = context;
  const isUnseen = (at: number) => at >= blindSince;
  /** One state per listed library, by its index. */
  const states = new Uint8Array(listing.length);
  const reads = createReadOrder(listing.length, context);
  const texts = createTextList(parseStored);
  /** The index in `texts` of a library that is read and was stored before, by its index of the listing. */
  const textIndexes = new Uint32Array(listing.length);
  const skipped: Record<SkipReason, number> = { unchanged: 0, settling: 0, "backing off": 0 };
  /** How many libraries are live, in scope or not, and how many of those are listed. */
  const live = { count: 0, listed: 0 };
  /** Live, in scope, and not listed. */
  const missing: LibraryKey[] = [];
  /** Those of `missing` whose removal an earlier run held. */
  const held: LibraryKey[] = [];
  /** Live, out of scope, and not listed. */
  const missingElsewhere: LibraryKey[] = [];
  /** Counts of libraries in scope that a run saw after a cache had stored the listing, which lacks them: all, and those that owe a read. */
  const missingButCached = { count: 0, owing: 0 };
  /** In scope, listed by an earlier run, never stored, and not listed any more. Without those of `missingButCached`. */
  const listedOnly: LibraryKey[] = [];
  /** In scope, marked as removed, and listed again. Without those that were removed after a cache had stored the listing. */
  const restored: LibraryKey[] = [];
  /** Listed again after an earlier run held their removal, in scope or not. None if a cache answered the listing. */
  const holdsEnded: LibraryKey[] = [];
  /** Removals have been held since this moment without a break, in database ms; null if none is held. */
  let heldSince: number | null = null;
  /** A listed library, in scope or not, whose last read succeeded and that is not read again: it shows whether the service is down. */
  let witness: LibraryKey | null = null;
  let listedInScope = 0;

  /** Whether the library is read. */
  const consider = (listed: ListedLibrary, index: number, stored: StoredLibrary | null): boolean => {
    if (!isSelected(listed.key)) return false;
    listedInScope += 1;
    const { kind, reason } = decide(listed, stored, context);
    if (kind === "read") reads.add(index, { stored, reason });
    else skipped[reason] += 1;
    return kind === "read";
  };

  return {
    /** `stored` is `parseStored(text)`. */
    addStored(stored: StoredLibrary, text: string): void {
      const { key } = stored;
      const isLive = stored.state === "live";
      if (isLive) live.count += 1;
      const heldAt = stored.sync?.removalHeldAt ?? null;
      if (heldAt !== null) heldSince = Math.min(heldSince ?? heldAt, heldAt);
      const index = listing.find(key);
      if (index === undefined) {
        /** When a run last saw it. */
        const seenAt = isLive ? stored.sync?.contentReadAt : stored.sync?.bookmarkSeenAt;
        const isSeenSince = isUnseen(seenAt ?? 0);
        if (!isSelected(key)) {
          if (isLive && !isSeenSince) missingElsewhere.push(key);
          return;
        }
        if (stored.state === "removed") return;
        if (isSeenSince) {
          missingButCached.count += 1;
          if (stored.sync !== null && stored.sync.rereadReason !== null) missingButCached.owing += 1;
          return;
        }
        (isLive ? missing : listedOnly).push(key);
        if (isLive && heldAt !== null) held.push(key);
        return;
      }
      if (stored.state === "removed" && isUnseen(stored.removedAt)) {
        states[index] = SAME_DATE;
        return;
      }
      const listed = listing.at(index);
      if (isLive) live.listed += 1;
      // A held removal has the time of the first hold of several, so a cached listing may be older than its own.
      if (heldAt !== null && blindSince === Number.POSITIVE_INFINITY) holdsEnded.push(listed.key);
      states[index] = stored.sync?.listedText === listed.lastModified ? SAME_DATE : NEW_DATE;
      if (stored.state === "removed" && isSelected(key)) restored.push(listed.key);
      if (consider(listed, index, stored)) textIndexes[index] = texts.add(text);
      else if (witness === null && isLive && stored.sync?.failures === 0) witness = listed.key;
    },
    /** The items of `actions` and `newDates` are made while they are iterated. */
    finish() {
      for (const [index, state] of states.entries()) if (state === NOT_STORED) consider(listing.at(index), index, null);
      const order = reads.sorted();
      return {
        /** In the order in which they are to be read. */
        actions: {
          length: order.length,
          *[Symbol.iterator](): Generator<ReadAction> {
            for (const index of order) {
              const listed = listing.at(index);
              const stored = states[index] === NOT_STORED ? null : texts.at(textIndexes[index] ?? 0);
              const decision = decide(listed, stored, context);
              if (decision.kind === "read") yield { listed, stored, reason: decision.reason };
            }
          },
        },
        skipped,
        missing,
        held,
        missingElsewhere,
        missingButCached,
        listedOnly,
        /** Listed for the first time, or with another date than the last time, in scope or not. In the order of the listing. */
        newDates: {
          *[Symbol.iterator]() {
            for (const [index, state] of states.entries()) if (state !== SAME_DATE) yield listing.at(index);
          },
        },
        restored,
        holdsEnded,
        heldSince,
        witness,
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
 * Sorts libraries, by their indexes of a listing of this length. New and changed libraries are first, so that an interrupted run is
 * useful, and libraries that failed last time are last. Within a rank the oldest content is first, and overdue libraries precede all
 * ranks: interrupted runs starve no library.
 */
export function createReadOrder(length: number, { now, fullEveryMs }: Pick<PlanContext, "now" | "fullEveryMs">) {
  const indexes: number[] = [];
  const ranks = new Uint8Array(length);
  /** An array of times, because sorting the libraries themselves is slower. */
  const times = new Float64Array(length);
  return {
    add(index: number, { stored, reason }: Omit<ReadAction, "listed">) {
      const sync = stored?.sync ?? null;
      indexes.push(index);
      ranks[index] = (sync?.failures ?? 0) > 0 ? FAILED : RANKS[reason];
      if (sync === null) return;
      if (isOverdue(now, sync, fullEveryMs)) ranks[index] = OVERDUE;
      times[index] = lastTriedAt(sync) ?? 0;
    },
    /** Libraries that were never tried are first in their rank; of equal ones the listing's order is kept. */
    sorted: () =>
      indexes.sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0) || (times[a] ?? 0) - (times[b] ?? 0) || a - b),
  };
}

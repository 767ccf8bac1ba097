import type {
  LibraryContent,
  ListedLibrary,
  ReadAction,
  ReceivedContent,
  StoredLibrary,
  SyncState,
} from "../../src/model.ts";
import { type PlannedRun, toListingChanges } from "../../src/sync/plan-run.ts";
import { hashContent } from "../../src/sync/read-library.ts";
import { buildLibraryContent } from "../../src/sync/rules/library-content.ts";
import { createPlanner } from "../../src/sync/rules/plan.ts";
import { EVERYTHING } from "../../src/sync/rules/selection.ts";
import { listingOf } from "../support/listing.ts";

/** One library's store, driven by the program's own functions; the effect of their statements is applied to one row. */
export interface Store {
  readonly stored: StoredLibrary | null;
  /** Identifies the content of the tables: by the versions of the two parts, or by other values. */
  readonly copy: string | null;
}

export const EMPTY: Store = { stored: null, copy: null };
const KEY = { owner: "o", name: "a" };

/** A listing with or without the library, and its outcome. Times are the database's, in ms. */
export interface Listing {
  readonly text: string | null;
  readonly isListed: boolean;
  readonly startedAt: number;
  readonly listedAt: number;
}

export interface Answer {
  /** Identifies the content. */
  readonly content: string;
  readonly metadataText: string | null;
  readonly startedAt: number;
  readonly date: number | null;
  readonly cached: boolean;
  /** One item was not readable. */
  readonly isPartial: boolean;
}

const BLANK: SyncState = {
  listedText: null,
  bookmark: null,
  contentHash: null,
  bookmarkSeenAt: null,
  contentReadAt: null,
  rereadReason: null,
  shrunkRunId: null,
  failures: 0,
  lastFailedAt: null,
  suspectReads: 0,
  removalHeldAt: null,
};

const REJECT = { key: KEY, kind: "scenario", code: "wrong_type", path: "", reason: "", payload: "" } as const;

const entryOf = ({ text }: Listing): ListedLibrary => ({ key: KEY, lastModified: text, source: JSON.stringify(text) });

/** The plan's decision for a listing: whether the library is read, and whether it is marked removed. */
export function plan({ stored }: Store, listing: Listing, fullEveryMs: number) {
  const libraries = listingOf(listing.isListed ? [entryOf(listing)] : []);
  const context = { now: listing.startedAt, fullEveryMs, backfillSince: null };
  const planner = createPlanner(libraries, JSON.parse, context, EVERYTHING);
  if (stored !== null) planner.addStored(stored, JSON.stringify(stored));
  return { planned: planner.finish(), libraries };
}

/** Records the listing, before any content is read. */
export function recordListing(store: Store, listing: Listing, made: ReturnType<typeof plan>): Store {
  const planned: PlannedRun = {
    listing: {
      libraries: made.libraries,
      rejects: [],
      incomplete: null,
      repeated: 0,
      startedAt: listing.startedAt,
      cachedMs: 0,
      date: null,
    },
    listedAt: listing.listedAt,
    asOf: listing.startedAt,
    plan: made.planned,
    openRejects: false,
    verdict: { kind: "pass" },
    removals: { marked: [], forgotten: [], held: [], heldSince: null },
  };
  const { changed, restored, seenAt } = toListingChanges(planned);
  let { stored } = store;
  for (const { lastModified: listedText } of changed) {
    const sync = { ...(stored?.sync ?? BLANK), listedText, bookmarkSeenAt: seenAt, suspectReads: 0 };
    stored = stored === null ? { key: KEY, state: "listed", sync } : { ...stored, sync };
  }
  if (restored.length > 0 && stored?.sync) {
    stored = { key: KEY, state: "live", sync: { ...stored.sync, rereadReason: "restored", bookmarkSeenAt: seenAt } };
  }
  return { ...store, stored };
}

export function recordFailure(store: Store): Store {
  const { stored } = store;
  if (!stored?.sync) return store;
  return {
    ...store,
    stored: { ...stored, sync: { ...stored.sync, rereadReason: "failure", failures: stored.sync.failures + 1 } },
  };
}

export function recordRemoval(store: Store): Store {
  const { stored } = store;
  if (!stored?.sync) return store;
  return {
    ...store,
    stored: { key: KEY, state: "removed", sync: { ...stored.sync, rereadReason: null, failures: 0 }, removedAt: 0 },
  };
}

/** Stores the content that was read. */
export function recordContent(store: Store, action: ReadAction, answer: Answer, listedAt: number): Store {
  const { stored } = store;
  if (stored === null) throw new Error("content of a library that no listing recorded");
  const content = contentOf(action, answer, listedAt);
  const rereadReason = answer.isPartial ? "rejects" : null;
  const before = stored.sync ?? BLANK;
  const sync: SyncState = {
    ...before,
    bookmark: rereadReason === null ? content.listed.lastModified : before.bookmark,
    contentHash: rereadReason === null ? content.contentHash : null,
    bookmarkSeenAt: content.bookmarkSeenAt,
    contentReadAt: content.contentReadAt,
    rereadReason,
    failures: 0,
    suspectReads: content.suspectReads,
  };
  const copy = content.isSame ? store.copy : answer.isPartial ? `part of ${answer.content}` : answer.content;
  return { stored: { key: KEY, state: "live", sync }, copy };
}

function contentOf(action: ReadAction, answer: Answer, listedAt: number): LibraryContent {
  const { content, metadataText, startedAt, date, cached, isPartial } = answer;
  const fields = {
    libraryName: null,
    libraryOwner: null,
    fileSize: null,
    packageName: null,
    packageVersion: null,
    description: null,
    absent: [],
  };
  const received: ReceivedContent = {
    metadata: { ...fields, lastModified: metadataText, source: "{}" },
    rejects: isPartial ? [REJECT] : [],
    items: 0,
    present: { scenarioName: 0, isResult: 0, lastModified: 0 },
    digest: content,
    sentAt: startedAt,
    date,
    cached,
  };
  const contentHash = hashContent(action.listed, received, "UTC");
  const facts = { listedAt, readAt: startedAt, contentHash, hashesTrustedSince: null, isUncertain: false };
  return buildLibraryContent(action, received, { kind: "memory", scenarios: [], count: 0 }, facts);
}

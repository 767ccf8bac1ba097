import type { DatabaseClock } from "../db/clock.ts";
import type { Pool } from "../db/connect.ts";
import { readRemovalNumbers } from "../db/read/removal-numbers.ts";
import { streamStored } from "../db/read/stored-libraries.ts";
import { hasListingRejects } from "../db/store/save-rejects.ts";
import { readSnapshot } from "../db/transaction.ts";
import type { LibraryKey, Listing } from "../model.ts";
import type { Selection } from "../run-report.ts";
import type { Service } from "../service/client.ts";
import { assertKnown } from "./assert-known.ts";
import { exceedsShare, guardRemovals, type RemovalVerdict } from "./rules/guard.ts";
import { createPlanner, type Plan } from "./rules/plan.ts";
import type { RunSettings } from "./run-types.ts";

/** A cache counts whole seconds, from a moment that only the cache knows. */
const CACHE_MARGIN_MS = 60_000;

interface PlanTools {
  readonly service: Service;
  readonly clock: DatabaseClock;
  /** Null if the database has no schema yet: nothing is stored. */
  readonly pool: Pool | null;
  readonly settings: RunSettings;
}

interface PlanRequest {
  readonly selection: Selection;
  readonly allowRemovals: boolean;
  /** In database ms; null for a sync. */
  readonly backfillSince: number | null;
}

interface TimedListing {
  readonly listing: Listing;
  /** When the listing's last byte arrived, in database ms. */
  readonly listedAt: number;
}

export interface PlannedListing extends TimedListing {
  readonly plan: Plan;
  /** Whether a reject of an earlier listing is open. */
  readonly openRejects: boolean;
}

/**
 * Reads the listing.
 * @throws UsageError for a selected owner or library that is neither listed nor stored; whatever the service's client throws
 */
export async function listLibraries(
  { service, clock, pool }: PlanTools,
  { selection }: PlanRequest,
  signal: AbortSignal,
): Promise<TimedListing> {
  const listing = await service.listLibraries(signal);
  // The clocks are compared again after the last byte: a moment that is too late costs a read, one too early misses an edit.
  await clock.sample(signal);
  const listedAt = clock.now();
  await assertKnown(selection, { listing, pool }, signal);
  return { listing, listedAt };
}

/** Compares the listing with what is stored, and decides what to read. Writes nothing. */
export async function planRun(
  { clock, pool, settings }: PlanTools,
  { selection, backfillSince }: PlanRequest,
  { listing, listedAt }: TimedListing,
  signal: AbortSignal,
): Promise<PlannedListing> {
  const now = clock.at(listing.startedAt);
  const cached = listing.cachedMs > 0 ? { cachedAt: now - listing.cachedMs - CACHE_MARGIN_MS } : {};
  const context = { now, fullEveryMs: settings.fullEveryMs, backfillSince, ...cached };
  const startPlanner = () => createPlanner(listing.libraries, context, selection);
  if (pool === null) return { listing, listedAt, plan: startPlanner().finish(), openRejects: false };
  const { planner, openRejects } = await readSnapshot(
    pool,
    "reading what is stored",
    async (connection) => {
      const started = startPlanner();
      await streamStored(connection, started.addStored);
      return { planner: started, openRejects: await hasListingRejects(connection) };
    },
    signal,
  );
  return { listing, listedAt, plan: planner.finish(), openRejects };
}

export interface RemovalDecision {
  readonly verdict: RemovalVerdict;
  /** Libraries whose removal is held from now on. */
  readonly holds: readonly LibraryKey[];
}

/**
 * Decides whether the libraries that the listing lacks may be marked as removed. Writes nothing. A run of a selection also
 * holds the other removals that a run of everything would hold; otherwise its new libraries would lower their share.
 */
export async function checkRemovals(
  { pool, settings }: PlanTools,
  { allowRemovals }: PlanRequest,
  { listing, plan }: PlannedListing,
  signal: AbortSignal,
): Promise<RemovalDecision> {
  const isComplete = listing.incomplete === null;
  const { missing, unheld, unheldElsewhere } = plan;
  const numbers =
    pool !== null && missing.length + unheldElsewhere.length > 0
      ? await readSnapshot(
          pool,
          "reading recent removals",
          (connection) => readRemovalNumbers(connection, plan.heldSince),
          signal,
        )
      : { peakLive: plan.live.count, removedLately: 0 };
  const facts = {
    listedCount: listing.libraries.length,
    rejectedCount: listing.rejects.length,
    liveCount: plan.live.count,
    sharedWithLive: plan.live.listed,
    missing: missing.length,
    heldBefore: missing.length - unheld.length,
    ...numbers,
    maxRemoved: settings.maxRemoved,
    allowed: allowRemovals,
    complete: isComplete,
  };
  const verdict = guardRemovals(facts);
  // Removals that this run is allowed to mark do not count, as they will not in later runs.
  const inScope = allowRemovals ? 0 : missing.length;
  const everywhere = { ...facts, missing: inScope + unheldElsewhere.length };
  const isHeldElsewhere = isComplete && unheldElsewhere.length > 0 && exceedsShare(everywhere);
  return { verdict, holds: [...(verdict.kind === "held" ? unheld : []), ...(isHeldElsewhere ? unheldElsewhere : [])] };
}

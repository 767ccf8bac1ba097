import type { DatabaseClock } from "../db/clock.ts";
import type { Pool } from "../db/connect.ts";
import { streamStored } from "../db/read/stored-libraries.ts";
import { readRemovalNumbers } from "../db/store/removals.ts";
import { hasListingRejects } from "../db/store/save-rejects.ts";
import { readSnapshot } from "../db/transaction.ts";
import type { Listing, Selection } from "../model.ts";
import type { Service } from "../service/client.ts";
import type { Share } from "../units.ts";
import { assertKnown } from "./assert-known.ts";
import { guardRemovals, type RemovalVerdict } from "./rules/guard.ts";
import { openPlan, type Plan } from "./rules/plan.ts";

/** A cache counts whole seconds, from a moment that only it knows. */
const CACHE_MARGIN_MS = 60_000;

/** What a run may do, besides its request. */
export interface RunSettings {
  readonly concurrency: number;
  readonly fullEveryMs: number;
  readonly maxRemoved: Share;
  readonly serviceTimezone: string;
}

export interface PlanRequest {
  readonly selection: Selection;
  readonly allowRemovals: boolean;
  /** In database ms; null for a sync. */
  readonly backfillSince: number | null;
}

/** Everything that is decided before the first content is read. */
export interface Prepared {
  readonly listing: Listing;
  /** When the listing's last byte had arrived, in database ms. */
  readonly listedAt: number;
  readonly plan: Plan;
  /** A reject of an earlier listing is open. */
  readonly openRejects: boolean;
  readonly verdict: RemovalVerdict;
}

export interface Sources {
  readonly service: Service;
  readonly clock: DatabaseClock;
  /** Null when the database has no schema yet: nothing is stored. */
  readonly pool: Pool | null;
}

/**
 * Lists, reads what is stored, plans, and asks the guard. Writes nothing.
 * @throws UsageError for a selected owner or library that is neither listed nor stored, and whatever ends a listing
 */
export async function prepare(
  { service, clock, pool }: Sources,
  request: PlanRequest,
  settings: RunSettings,
  signal: AbortSignal,
): Promise<Prepared> {
  const listing = await service.listLibraries(signal);
  // Compared anew, and after the last byte: said too late costs a read, said too early could miss an edit.
  await clock.sample(signal);
  const listedAt = clock.now();
  await assertKnown(request.selection, { listing, pool }, signal);
  const { fullEveryMs, maxRemoved } = settings;
  const now = clock.at(listing.startedAt);
  const cached = listing.cachedMs > 0 ? { cachedAt: now - listing.cachedMs - CACHE_MARGIN_MS } : {};
  const context = { now, fullEveryMs, backfillSince: request.backfillSince, ...cached };
  const openPlanner = () => openPlan(listing.libraries, context, request.selection);
  const { planner, openRejects } =
    pool === null
      ? { planner: openPlanner(), openRejects: false }
      : await readSnapshot(
          pool,
          "reading what is stored",
          async (connection) => {
            const started = openPlanner();
            await streamStored(connection, started.meet);
            return { planner: started, openRejects: await hasListingRejects(connection) };
          },
          signal,
        );
  const plan = planner.finish();
  const lately =
    pool !== null && plan.missing.length > 0
      ? await readSnapshot(
          pool,
          "reading what was removed lately",
          (connection) => readRemovalNumbers(connection, plan.heldSince),
          signal,
        )
      : { peakLive: plan.live.count, removedLately: 0 };
  const verdict = guardRemovals({
    listedCount: listing.libraries.length,
    rejectedCount: listing.rejects.length,
    liveCount: plan.live.count,
    sharedWithLive: plan.live.listed,
    missing: plan.missing.length,
    heldBefore: plan.missing.length - plan.unheld.length,
    ...lately,
    maxRemoved,
    allowed: request.allowRemovals,
    complete: listing.incomplete === null,
  });
  return { listing, listedAt, plan, openRejects, verdict };
}

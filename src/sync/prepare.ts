import type { DatabaseClock } from "../db/clock.ts";
import type { Pool } from "../db/connect.ts";
import { readRemovalNumbers } from "../db/removals.ts";
import { readSnapshot } from "../db/snapshot.ts";
import { readStored } from "../db/stored.ts";
import { keyText } from "../key.ts";
import type { Listing, Selection, StoredLibrary } from "../model.ts";
import type { Service } from "../service/client.ts";
import type { Share } from "../units.ts";
import { guardRemovals, type RemovalVerdict } from "./guard.ts";
import { type Plan, planSync } from "./plan.ts";
import { assertKnown } from "./selection.ts";

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
  readonly stored: ReadonlyMap<string, StoredLibrary>;
  readonly plan: Plan;
  readonly verdict: RemovalVerdict;
}

export interface Sources {
  readonly service: Service;
  readonly clock: DatabaseClock;
  /** Null when the database has no schema yet: nothing is stored. */
  readonly pool: Pool | null;
}

/** Lists, reads what is stored, plans, and asks the guard. Writes nothing. */
export async function prepare(
  { service, clock, pool }: Sources,
  request: PlanRequest,
  settings: RunSettings,
  signal: AbortSignal,
): Promise<Prepared> {
  const listing = await service.listLibraries(signal);
  // Compared anew, and after the last byte: said too late costs a read, said too early could miss an edit.
  await clock.sample();
  const listedAt = clock.now();
  const stored =
    pool === null
      ? new Map<string, StoredLibrary>()
      : await readSnapshot(pool, "reading what is stored", readStored, signal);
  const listed = new Set(listing.libraries.map((one) => keyText(one.key)));
  assertKnown(request.selection, (key) => listed.has(keyText(key)) || stored.has(keyText(key)));

  const { fullEveryMs, maxRemoved } = settings;
  const context = { now: clock.at(listing.startedAt), fullEveryMs, backfillSince: request.backfillSince };
  const plan = planSync(listing.libraries, stored, context, request.selection);
  const live = [...stored.values()].filter((one) => one.stored && !one.removed);
  const lately =
    pool !== null && plan.missing.length > 0
      ? await readSnapshot(pool, "reading what was removed lately", readRemovalNumbers, signal)
      : { peakLive: live.length, removedLately: 0 };
  const verdict = guardRemovals({
    listedCount: listing.libraries.length,
    liveCount: live.length,
    sharedWithLive: live.filter((one) => listed.has(keyText(one.key))).length,
    missing: plan.missing.length,
    ...lately,
    maxRemoved,
    allowed: request.allowRemovals,
    complete: listing.incomplete === null,
  });
  return { listing, listedAt, stored, plan, verdict };
}

import type { Connection, Pool } from "../db/connect.ts";
import { listsOlder, type RemovalNumbers, readRemovalNumbers } from "../db/read/removal-numbers.ts";
import { parseStored, streamStoredLibraries } from "../db/read/stored-libraries.ts";
import type { ListingChanges } from "../db/store/save-listing.ts";
import { countListingRejects } from "../db/store/save-rejects.ts";
import { readSnapshot } from "../db/transaction.ts";
import { keyText } from "../key.ts";
import type { LibraryKey, Listing, Reject } from "../model.ts";
import type { RunRequest } from "../run-summary.ts";
import { isInSlice } from "../slice.ts";
import { assertKnown } from "./assert-known.ts";
import { exceedsShare, guardRemovals } from "./rules/guard.ts";
import { createPlanner, type Plan } from "./rules/planner.ts";
import { CACHE_MARGIN_MS } from "./rules/settle.ts";
import type { Run, RunSettings, RunTools } from "./run-types.ts";

/** `pool`: null if the database has no schema yet, so that nothing is stored. */
type PlanTools = Pick<RunTools, "service" | "clock" | "settings"> & { readonly pool: Pool | null };

type PlanRequest = Pick<RunRequest, "selection" | "allowRemovals"> & Pick<Run, "backfillSince">;

/** A listing, compared with what is stored. */
export type PlannedRun = Awaited<ReturnType<typeof planRun>>;

/**
 * Reads the listing, compares it with what is stored, and decides what to read and what to mark as removed. Writes nothing.
 * @throws UsageError for a selected owner or library that is neither listed nor stored; whatever the service's client throws
 */
export async function planRun(tools: PlanTools, request: PlanRequest, signal: AbortSignal) {
  const { service, clock, pool, settings } = tools;
  const { backfillSince } = request;
  const { slice } = request.selection;
  const listed = await service.listLibraries(signal, slice && ((key) => isInSlice(slice, key)));
  // The clocks are compared again after the last byte: a moment that is too late costs a read, one too early misses an edit.
  await clock.sample(signal);
  /** When the listing's last byte arrived, in database ms. */
  const listedAt = clock.now();
  const selection = await assertKnown(request.selection, { listing: listed, pool, source: "tables" }, signal);
  const isRejectHere = ({ key }: Reject) => !slice || (key !== null && listed.libraries.find(key) !== undefined);
  const listing = { ...listed, rejects: listed.rejects.filter(isRejectHere) };

  const now = clock.at(listing.startedAt);
  /** The listing shows nothing of this time or later, in database ms. */
  const blindSince = listing.cachedMs > 0 ? now - listing.cachedMs - CACHE_MARGIN_MS : Number.POSITIVE_INFINITY;
  /** As of when the listing shows the service, in database ms: when it was requested or a cache stored it; null if that is unknown. */
  const asOf = blindSince === Number.NEGATIVE_INFINITY ? null : Math.min(now, blindSince);
  const namesLibraries = selection.libraries.length > 0;
  const context = { now, fullEveryMs: settings.fullEveryMs, backfillSince, namesLibraries, blindSince };
  const compareStored = async (connection: Connection | null) => {
    const planner = createPlanner(listing.libraries, parseStored, context, selection);
    if (connection !== null) await streamStoredLibraries(connection, planner.addStored, "tables", slice);
    const plan = planner.finish();
    /** Open rejects of earlier listings. */
    const openRejects = connection ? await countListingRejects(connection, blindSince) : { open: 0, later: 0 };
    const decision = await checkRemovals(connection, settings, { ...request, selection }, { listing: listed, plan });
    return { plan, openRejects, ...decision };
  };
  const compared =
    pool === null
      ? await compareStored(null)
      : await readSnapshot(pool, "reading what is stored", compareStored, signal);
  return { listing, listedAt, asOf, blindSince, ...compared };
}

/**
 * Decides whether the libraries that the listing lacks may be marked as removed. A run of a selection also holds the removals outside
 * of it that a run of everything would hold. Otherwise the libraries that this run adds would lower the share of those removals.
 */
async function checkRemovals(
  connection: Connection | null,
  { maxRemoved }: RunSettings,
  { selection, allowRemovals }: PlanRequest,
  { listing, plan }: { readonly listing: Listing; readonly plan: Plan },
) {
  const complete = listing.incomplete === null;
  const isSlice = selection.slice !== undefined;
  const canMark = complete && !isSlice;
  const { missing, missingElsewhere, heldSince } = plan;
  // A small slice may share no library with the listing, so the whole organization is counted.
  const live =
    connection !== null && isSlice && plan.live.listed === 0 ? await countLive(connection, listing) : plan.live;
  const numbers: RemovalNumbers =
    connection !== null && canMark && missing.length + missingElsewhere.length > 0
      ? await readRemovalNumbers(connection, heldSince)
      : { peakLive: plan.live.count, gone: 0, cameBack: [] };
  const facts = {
    listedCount: listing.libraries.length + listing.libraries.elsewhere,
    rejectedCount: listing.rejects.length,
    liveCount: live.count,
    sharedWithLive: live.listed,
    missing: missing.length,
    heldBefore: plan.held.length,
    removedLately: countOthers(numbers, missing),
    peakLive: numbers.peakLive,
    maxRemoved,
    allowed: allowRemovals,
    complete,
    isSlice,
  };
  const verdict = guardRemovals(facts);
  // Removals that this run is allowed to mark do not count, as they will not in later runs.
  const everyMissing = [...(allowRemovals ? [] : missing), ...missingElsewhere];
  const everywhere = { ...facts, missing: everyMissing.length, removedLately: countOthers(numbers, everyMissing) };
  const isHeldElsewhere = canMark && missingElsewhere.length > 0 && exceedsShare(everywhere);
  const missingHere = [...missing, ...plan.listedOnly];
  const heldHere = canMark && verdict.kind === "held" ? missingHere : [];
  const held = [...heldHere, ...(isHeldElsewhere ? missingElsewhere : [])];
  const marked = verdict.kind === "pass" ? missingHere : [];
  const isShared =
    connection !== null && heldSince !== null && live.listed > 0
      ? await listsOlder(connection, listing, heldSince)
      : live.listed > 0;
  /** The listing shares nothing with the copy as it was before removals were held, and `--allow-removals` does not apply. */
  const isForeign = verdict.kind !== "pass" && live.count > 0 && !isShared;
  return { verdict, removals: { marked, held, heldSince }, isForeign };
}

/** How many libraries of the whole organization are live, and how many of those are listed. */
async function countLive(connection: Connection, { libraries }: Listing): Promise<Plan["live"]> {
  const live = { count: 0, listed: 0 };
  await streamStoredLibraries(connection, ({ state, key }) => {
    if (state !== "live") return;
    live.count += 1;
    if (libraries.has(key)) live.listed += 1;
  });
  return live;
}

/** How many libraries other than the missing ones were removed in the last 24 h: one that went and returned counts once. */
function countOthers({ gone, cameBack }: RemovalNumbers, missing: readonly LibraryKey[]): number {
  const again = new Set(cameBack.map(keyText));
  return gone + again.size - missing.filter((key) => again.has(keyText(key))).length;
}

/** The changes of the listing, in scope or not. Only libraries in scope are restored. */
export function toListingChanges(planned: PlannedRun): ListingChanges {
  const { listing, listedAt, blindSince, plan, openRejects, verdict } = planned;
  const { libraries, rejects } = listing;
  // A listing that may lack entries, or a slice of one, proves nothing by what it lacks. Each good entry proves that its rejects are over.
  const isTrusted = verdict.kind === "pass" || (verdict.kind === "held" && verdict.rule !== "empty_listing");
  const isGoodEntry = (key: LibraryKey) => {
    const index = libraries.find(key);
    return index !== undefined && libraries.at(index).source !== null;
  };
  return {
    newDates: plan.newDates,
    restored: plan.restored,
    holdsEnded: plan.holdsEnded,
    rejects,
    isOver:
      openRejects.open > openRejects.later
        ? (key, seenAt) => seenAt < blindSince && (isTrusted || (key !== null && isGoodEntry(key)))
        : null,
    seenAt: listedAt,
  };
}

import { hostname } from "node:os";
import { group } from "d3-array";
import type { Connection } from "../db/connect.ts";
import { acquireLease, withLease } from "../db/lease.ts";
import { leaseOf } from "../db/lease-names.ts";
import { deleteRun, finishRun, insertRun, isGood, readSyncCounts, readUnfinishedBackfill } from "../db/runs.ts";
import { moveBack } from "../db/store/move-back.ts";
import { createListingSaver } from "../db/store/save-listing.ts";
import { saveSnapshot } from "../db/store/save-snapshot.ts";
import { readSnapshot } from "../db/transaction.ts";
import { LostLeaseError, toError, UsageError } from "../errors.ts";
import { keyText } from "../key.ts";
import type { SaveOutcome } from "../model.ts";
import { createValueParsers } from "../parse-values.ts";
import type { RunRequest } from "../run-summary.ts";
import { HOUR_MS } from "../units.ts";
import { copyLibraries } from "./copy-libraries.ts";
import { planRun, toListingChanges } from "./plan-run.ts";
import { isEverything } from "./rules/selection.ts";
import { outcomeOfError, type RunOutcome, RunTotals } from "./run-totals.ts";
import type { Run, RunResult, RunTools } from "./run-types.ts";
import {
  isIdleByDates,
  warnOfFutureDays,
  warnOfIdleRuns,
  warnOfListing,
  warnOfReading,
  warnOfThrottling,
} from "./warnings.ts";

/**
 * One run: takes the lease, lists, plans, marks removals, saves the listing, reads and saves content, takes the snapshot, finishes.
 * Aborting `signal` stops the reading; what was read is still stored.
 * @throws BusyError, DatabaseError, or whatever keeps a run from starting. UsageError for a selected owner or library that is
 * neither listed nor stored; no run is recorded then. Any other end is in the result
 */
export async function runSync(tools: RunTools, request: RunRequest, signal: AbortSignal): Promise<RunResult> {
  const { pool, clock, service } = tools;
  const wanted = { name: leaseOf(request.selection.slice), holder: `${hostname()}:${process.pid}` };
  const start = (connection: Connection, earlier: StartedRun | null) => startRun(tools, request, connection, earlier);
  const { lease, started } = await acquireLease(pool, clock, wanted, start, signal);
  const startedAt = performance.now();
  try {
    const parsers = createValueParsers(tools.settings.serviceTimezone);
    const run: Run = { ...tools, ...started, request, lease, parsers, totals: new RunTotals() };
    const outcome = await runSteps(run, AbortSignal.any([signal, lease.lost])).catch(outcomeOfError);
    const { throttled, ...counts } = service.counters();
    Object.assign(run.totals.counts, counts);
    warnOfThrottling(run.totals, throttled);
    await takeSnapshot(run, outcome);
    return await finish(run, outcome, performance.now() - startedAt);
  } finally {
    await lease.release();
  }
}

type StartedRun = Pick<Run, "id" | "backfillSince" | "hashesTrustedSince">;

/**
 * Writes the run's row in the transaction that takes the lease. The row replaces that of an `earlier` attempt. A backfill continues
 * an interrupted one of the same scope that is young enough.
 */
async function startRun(
  { clock, settings, version }: RunTools,
  request: RunRequest,
  connection: Connection,
  earlier: StartedRun | null,
): Promise<StartedRun> {
  if (earlier !== null) await deleteRun(connection, earlier.id);
  const now = clock.now();
  const mayContinue = request.kind === "backfill" && !request.restart;
  const unfinished = mayContinue ? await readUnfinishedBackfill(connection, request.selection) : null;
  // A start in the future was recorded before the clock was set back.
  const isYoung = unfinished !== null && unfinished <= now && now - unfinished < settings.fullEveryMs;
  const backfillSince = request.kind === "sync" ? null : isYoung ? unfinished : now;
  const { id, restartedAt } = await insertRun(connection, { ...request, backfillSince, version });
  return { id, backfillSince, hashesTrustedSince: request.restart ? backfillSince : restartedAt };
}

async function runSteps(run: Run, signal: AbortSignal): Promise<RunOutcome> {
  const { totals, onEvent, request, lease, mask } = run;
  const startedEvent = { kind: "started", id: run.id, run: request.kind } as const;
  const isWhole = isEverything(request.selection);
  if (isWhole) onEvent(startedEvent);
  const planned = await planRun(run, { ...request, backfillSince: run.backfillSince }, signal).catch((error) => {
    if (!isWhole && !(error instanceof UsageError)) onEvent(startedEvent);
    throw error;
  });
  // Announced only now, because a selection that names something unknown is a usage error, not a run.
  if (!isWhole) onEvent(startedEvent);

  const { listing, plan, verdict, removals } = planned;
  totals.counts.librariesListed = listing.libraries.length + listing.libraries.elsewhere;
  const { date, cachedMs } = listing;
  totals.isClockConfirmed = date !== null && cachedMs === 0 && Math.abs(planned.listedAt - date) < HOUR_MS;
  warnOfListing(totals, planned);
  const held = verdict.kind === "held" ? verdict : null;
  if (held?.rule === "nothing_shared") return { status: "held", message: held.message, error: null };
  totals.addRejects(listing.rejects);
  // Those that name no library form one group.
  for (const rejects of group(listing.rejects, ({ key }) => key && keyText(key)).values())
    onEvent({ kind: "rejected", key: rejects[0]?.key ?? null, rejects });

  if (!planned.isForeign)
    totals.listing = { complete: listing.incomplete === null && planned.asOf !== null, asOf: planned.asOf };
  // Later rejects may be those of other slices.
  totals.addPlan(plan, request.selection.slice ? 0 : planned.openRejects.later);
  const toRead = plan.actions.length;
  onEvent({ kind: "planned", listed: plan.listedInScope, toRead, skipped: plan.listedInScope - toRead });

  const saver = createListingSaver(lease, run.id, mask);
  totals.counts.librariesRemoved = await saver.markRemovals(removals);
  const unsaved = await saver.saveListing(toListingChanges(planned));
  if (unsaved !== null) totals.add({ kind: "unsaved", key: null, message: unsaved });

  for await (const outcome of copyLibraries(run, planned, saver.failed(), signal)) {
    totals.add(outcome);
    emitOutcome(run, outcome);
  }

  warnOfReading(totals, run.parsers);
  if (request.kind === "sync" && isWhole && isIdleByDates(totals)) {
    warnOfIdleRuns(totals, await readSnapshot(run.pool, "reading the last runs", readSyncCounts, lease.lost));
  }
  if (held !== null) return { status: "held", message: held.message, error: null };
  return { status: listing.incomplete === null ? totals.status() : "partial", message: null, error: null };
}

function emitOutcome({ onEvent }: Run, outcome: SaveOutcome): void {
  if (outcome.kind === "saved") {
    const { listed, rejects } = outcome.content;
    if (rejects.length > 0) onEvent({ kind: "rejected", key: listed.key, rejects });
    onEvent({ kind: "stored", key: listed.key });
  }
  if (outcome.kind === "failed") {
    const { key, code, message, rejects } = outcome.failure;
    onEvent({ kind: "failed", key, code, message });
    if (rejects.length > 0) onEvent({ kind: "rejected", key, rejects });
  }
}

/**
 * Takes the day's snapshot at the end of a good run over the whole organization, and corrects times that were stored while the
 * clock was ahead. A failure is only a warning: the run has stored everything, and the next good run of the day takes the snapshot.
 */
async function takeSnapshot({ id, lease, mask, request, totals }: Run, { status }: RunOutcome): Promise<void> {
  const { counts, listing } = totals;
  if (!isGood(status, counts, listing !== null) || !isEverything(request.selection)) return;
  try {
    const work = async (connection: Connection) => ({
      movedFrom: totals.isClockConfirmed ? await moveBack(connection) : null,
      futureDays: await saveSnapshot(connection, id, totals.isClockConfirmed),
    });
    const options = { operation: "taking the daily snapshot", byKey: true };
    const { movedFrom, futureDays } = await withLease(lease, options, work);
    if (movedFrom !== null) {
      const moved = `versions, events and runs up to ${movedFrom} were stored while the database's clock was ahead`;
      totals.warn("versions_moved_back", `${moved}; they have the time of this run now`);
    }
    warnOfFutureDays(totals, futureDays);
  } catch (thrown) {
    // If the lease is lost, the run's last transaction throws.
    if (thrown instanceof LostLeaseError) return;
    const next = "everything else is stored, and the next good run of this UTC day takes the snapshot";
    totals.warn("snapshot_failed", `${mask(toError(thrown).message)}; ${next}`);
  }
}

/** Completes the run's row and releases the lease in one transaction, or deletes the row after a usage error. */
async function finish(run: Run, outcome: RunOutcome, durationMs: number): Promise<RunResult> {
  const { lease, id, totals } = run;
  if (outcome.error instanceof UsageError) {
    await withLease(lease, { operation: "deleting the run" }, (connection) => deleteRun(connection, id));
    throw outcome.error;
  }
  const summary = totals.toSummary(run, outcome, durationMs);
  if (outcome.status === "lost_lease") return { summary, error: outcome.error };
  try {
    // The run has already waited for this server.
    const patience = outcome.status === "database_failed" ? { retryForMs: 1_000 } : {};
    await lease.end(id, { operation: "finishing the run", ...patience }, (connection) =>
      finishRun(connection, summary, totals.listing),
    );
    return { summary, error: outcome.error };
  } catch (thrown) {
    const unfinished = outcomeOfError(thrown);
    return { summary: totals.toSummary(run, unfinished, durationMs), error: unfinished.error };
  }
}

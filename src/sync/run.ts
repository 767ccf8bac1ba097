import { hostname } from "node:os";
import type { Connection } from "../db/connect.ts";
import { fencedWrites, type Write } from "../db/fenced-writes.ts";
import { type Lease, startUnderLease } from "../db/lease.ts";
import { countIdleRuns, deleteRun, finishRun, isFinished } from "../db/runs.ts";
import { readSnapshot } from "../db/snapshot.ts";
import { UsageError } from "../errors.ts";
import { byLibrary } from "./by-library.ts";
import { came, type Ending, toEnding } from "./ending.ts";
import { failLibrary, unstorable } from "./fail-library.ts";
import { markGone } from "./mark-gone.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { recordListing } from "./record-listing.ts";
import { isEverything } from "./rules/selection.ts";
import { toReport } from "./run-report.ts";
import type { RunRequest, RunResult, RunTools } from "./run-request.ts";
import { runStarter, type StartedRun } from "./start-run.ts";
import { storeContent } from "./store-content.ts";
import { openTally, type Tally } from "./tally.ts";
import { openTextReader } from "./texts.ts";
import { isIdle, warnOfIdleRuns, warnOfListing, warnOfReading, warnOfThrottling } from "./warnings.ts";

/**
 * One run under the lease: list, plan, mark what is gone, read and store, tell. Aborting `signal` stops the reading;
 * what was read is still stored.
 * @throws BusyError, DatabaseError, or whatever keeps a run from beginning; UsageError, after taking its row back, for a
 * selected owner or library that is neither listed nor stored. Every other ending of a run that has a row is in the result
 */
export async function runSync(tools: RunTools, request: RunRequest, signal: AbortSignal): Promise<RunResult> {
  const holder = `${hostname()}:${process.pid}`;
  const start = runStarter(tools, request);
  const work = (lease: Lease, run: StartedRun) => runUnderLease(tools, request, lease, run, signal);
  return startUnderLease(tools.pool, tools.clock, holder, { start, work }, signal);
}

async function runUnderLease(
  tools: RunTools,
  request: RunRequest,
  lease: Lease,
  { id, backfillSince, hashesSince }: StartedRun,
  signal: AbortSignal,
): Promise<RunResult> {
  const startedAt = performance.now();
  const write = fencedWrites(tools.pool, lease);
  const before = tools.service.counters();
  // An unknown selector is a usage error and no run, so a run of selected libraries is announced once they are known.
  const isWhole = isEverything(request.selection);
  const announce = () => tools.tell({ kind: "started", id, run: request.kind });
  if (isWhole) announce();

  const tally = openTally();
  const reading = AbortSignal.any([signal, lease.lost]);
  const ending = await prepare(tools, { ...request, backfillSince }, tools.settings, reading)
    .then(
      (prepared) => {
        if (!isWhole) announce();
        return prepared;
      },
      (error) => {
        if (!isWhole && !(error instanceof UsageError)) announce();
        throw error;
      },
    )
    .then((prepared) => carryOut(tools, request, prepared, { id, hashesSince, lease, write, tally }, reading))
    .catch(toEnding);

  if (ending.error instanceof UsageError) {
    await lease.end({ doing: "taking back the run", isDone: async () => false }, (connection) =>
      deleteRun(connection, id),
    );
    throw ending.error;
  }
  const { requests, retries, bytes, throttled } = tools.service.counters();
  Object.assign(tally.counts, {
    requests: requests - before.requests,
    retries: retries - before.retries,
    bytes: bytes - before.bytes,
  });
  warnOfThrottling(tally, throttled - before.throttled);
  const durationMs = performance.now() - startedAt;
  const report = toReport({ id, kind: request.kind, tally, ending, durationMs, mask: tools.mask });
  if (ending.status === "lost_lease") return { report, error: ending.error };
  try {
    // A server that was waited for in vain is not waited for twice.
    const patience = ending.status === "database_failed" ? { patienceMs: 1_000 } : {};
    const isDone = (connection: Connection) => isFinished(connection, id);
    const finish = (connection: Connection) => finishRun(connection, id, report);
    await lease.end({ doing: "finishing the run", isDone, ...patience }, finish);
    return { report, error: ending.error };
  } catch (thrown) {
    const unfinished = toEnding(thrown);
    return {
      report: toReport({ id, kind: request.kind, tally, ending: unfinished, durationMs, mask: tools.mask }),
      error: unfinished.error,
    };
  }
}

interface Run {
  readonly id: number;
  readonly hashesSince: number | null;
  readonly lease: Lease;
  readonly write: Write;
  readonly tally: Tally;
}

async function carryOut(
  tools: RunTools,
  request: RunRequest,
  prepared: Prepared,
  { id, hashesSince, lease, write, tally }: Run,
  signal: AbortSignal,
): Promise<Ending> {
  const { listing, plan, verdict } = prepared;
  tally.counts.librariesListed = listing.libraries.length;
  tally.rejected(listing.rejects);
  for (const rejects of byLibrary(listing.rejects)) tools.tell({ kind: "rejected", key: rejects[0].key, rejects });
  warnOfListing(tally, prepared);
  if (verdict.kind === "held" && verdict.storeNothing) return came("held", verdict.message);

  tally.skipped("unchanged", plan.skipped.unchanged);
  tally.skipped("not settled yet", plan.skipped["not settled yet"]);
  const toRead = plan.actions.length;
  tools.tell({ kind: "planned", listed: plan.listedInScope, toRead, skipped: plan.listedInScope - toRead });
  tally.counts.librariesRemoved = await markGone(prepared, id, write, (key, error) =>
    failLibrary({ ...tools, tally }, key, unstorable("marking the library as removed", error)),
  );
  const recorded = await recordListing({ ...tools, tally }, prepared, id, write);

  const texts = openTextReader(tools.settings.serviceTimezone);
  const { allowRemovals } = request;
  await storeContent({ ...tools, lease, runId: id, allowRemovals, hashesSince, tally, texts }, recorded, signal);
  warnOfReading(tally, texts);
  if (isIdle(request, tally))
    warnOfIdleRuns(tally, await readSnapshot(tools.pool, "reading the last runs", countIdleRuns, lease.lost));

  if (verdict.kind === "held") return came("held", verdict.message);
  return came(listing.incomplete === null ? tally.status() : "partial", null);
}

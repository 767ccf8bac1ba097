import { hostname } from "node:os";
import type { Connection } from "../db/connect.ts";
import { acquireLease } from "../db/lease.ts";
import { leaseOf } from "../db/lease-names.ts";
import { deleteRun, finishRun, isFinished, readSyncCounts, WHOLE_SCOPE } from "../db/runs.ts";
import { saveOutcomes } from "../db/store/save-outcomes.ts";
import { readSnapshot } from "../db/transaction.ts";
import { UsageError } from "../errors.ts";
import { keyText } from "../key.ts";
import type { Reject, WriteOutcome } from "../model.ts";
import type { RunRequest } from "../run-summary.ts";
import { markRemovals } from "./mark-removals.ts";
import { checkRemovals, planRun, takeListing } from "./plan-run.ts";
import { readLibraries } from "./read-libraries.ts";
import { guardScenarios } from "./rules/guard.ts";
import { isEverything } from "./rules/selection.ts";
import { completed, outcomeOfError, type RunOutcome, toSummary } from "./run-outcome.ts";
import { RunTotals } from "./run-totals.ts";
import type { Run, RunResult, RunTools } from "./run-types.ts";
import { saveListing } from "./save-listing.ts";
import { createRunStarter } from "./start-run.ts";
import { confirmsClock, takeSnapshot } from "./take-snapshot.ts";
import { createValueParsers } from "./value-parsers.ts";
import { COMPARED_RUNS, isIdle, warnOfIdleRuns, warnOfListing, warnOfReading, warnOfThrottling } from "./warnings.ts";

/**
 * One run: takes the lease, lists, plans, guards removals, marks them, records the listing, reads, writes, takes the day's
 * snapshot, finishes.
 * Aborting `signal` stops the reading; what was read is still stored.
 * @throws BusyError, DatabaseError, or whatever keeps a run from starting; UsageError for a selected owner or library that is
 * neither listed nor stored, and then no run is recorded. Any other end is in the result
 */
export async function runSync(tools: RunTools, request: RunRequest, signal: AbortSignal): Promise<RunResult> {
  const leaseRequest = { name: leaseOf(request.selection.slice), holder: `${hostname()}:${process.pid}` };
  const { lease, started } = await acquireLease(
    tools.pool,
    tools.clock,
    leaseRequest,
    createRunStarter(tools, request),
    signal,
  );
  const startedAt = performance.now();
  try {
    const run: Run = {
      ...tools,
      ...started,
      request,
      lease,
      parsers: createValueParsers(tools.settings.serviceTimezone),
      totals: new RunTotals(),
    };
    const before = tools.service.counters();
    const outcome = await runSteps(run, AbortSignal.any([signal, lease.lost])).catch(outcomeOfError);
    const { requests, retries, bytes, throttled } = tools.service.counters();
    run.totals.counts.requests = requests - before.requests;
    run.totals.counts.retries = retries - before.retries;
    run.totals.counts.bytes = bytes - before.bytes;
    warnOfThrottling(run.totals, throttled - before.throttled);
    await takeSnapshot(run, outcome);
    return await finish(run, outcome, performance.now() - startedAt);
  } finally {
    await lease.release();
  }
}

async function runSteps(run: Run, signal: AbortSignal): Promise<RunOutcome> {
  const { totals, onEvent, settings, request } = run;
  const startedEvent = { kind: "started", id: run.id, run: request.kind } as const;
  const isWhole = isEverything(request.selection);
  if (isWhole) onEvent(startedEvent);
  const planRequest = { ...request, backfillSince: run.backfillSince };
  const listed = await takeListing(run, planRequest, signal).catch((error) => {
    if (!isWhole && !(error instanceof UsageError)) onEvent(startedEvent);
    throw error;
  });
  // A selection that names nothing known is a usage error, and then there is no run to report.
  if (!isWhole) onEvent(startedEvent);

  const planned = await planRun(run, planRequest, listed, signal);
  const { listing, plan } = planned;
  const removals = await checkRemovals(run, planRequest, planned, signal);
  const { verdict } = removals;
  totals.counts.librariesListed = listing.libraries.length + listing.libraries.elsewhere;
  totals.addRejects(listing.rejects);
  for (const rejects of groupRejects(listing.rejects)) onEvent({ kind: "rejected", key: rejects[0].key, rejects });
  totals.isClockConfirmed = confirmsClock(listing, planned.listedAt);
  warnOfListing(totals, planned);
  if (verdict.kind === "held" && verdict.rule === "nothing_shared") return completed("held", verdict.message);

  totals.listing = { complete: listing.incomplete === null && planned.asOf !== null, asOf: planned.asOf };
  totals.addSkipped(plan.skipped);
  const toRead = plan.actions.length;
  onEvent({ kind: "planned", listed: plan.listedInScope, toRead, skipped: plan.listedInScope - toRead });

  const { marked, refused: notMarked } = await markRemovals(run, plan, removals);
  totals.counts.librariesRemoved = marked;
  const notRecorded = await saveListing(run, planned, verdict);

  const outcomes = readLibraries(run, planned, [...notMarked, ...notRecorded], signal);
  const { maxRemoved } = settings;
  const { allowRemovals } = request;
  const written = saveOutcomes(outcomes, {
    write: run.lease.write,
    mask: run.mask,
    context: {
      runId: run.id,
      parsers: run.parsers,
      guard: (numbers) => guardScenarios({ ...numbers, maxRemoved, allowed: allowRemovals }),
    },
  });
  for await (const outcome of written) {
    totals.add(outcome);
    logOutcome(run, outcome);
  }

  warnOfReading(totals, run.parsers);
  if (request.kind === "sync" && isWhole && isIdle(totals.counts)) {
    const readCounts = (connection: Connection) => readSyncCounts(connection, WHOLE_SCOPE, COMPARED_RUNS);
    warnOfIdleRuns(totals, await readSnapshot(run.pool, "reading the last runs", readCounts, run.lease.lost));
  }
  if (verdict.kind === "held") return completed("held", verdict.message);
  return completed(listing.incomplete === null ? totals.status() : "partial");
}

function logOutcome({ onEvent }: Run, outcome: WriteOutcome): void {
  if (outcome.kind === "stored") {
    const { saved, content } = outcome;
    if (content.rejects.length > 0) onEvent({ kind: "rejected", key: saved.key, rejects: content.rejects });
    onEvent({ kind: "stored", key: saved.key });
  }
  if (outcome.kind === "failed") {
    const { key, code, message, rejects } = outcome.failure;
    onEvent({ kind: "failed", key, code, message });
    if (rejects.length > 0) onEvent({ kind: "rejected", key, rejects });
  }
}

/** Completes the run's row and releases the lease in one transaction, or deletes the row after a usage error. */
async function finish(run: Run, outcome: RunOutcome, durationMs: number): Promise<RunResult> {
  const { lease, id } = run;
  if (outcome.error instanceof UsageError) {
    await lease.end({ operation: "deleting the run", isDone: async () => false }, (connection) =>
      deleteRun(connection, id),
    );
    throw outcome.error;
  }
  const summary = toSummary(run, outcome, durationMs);
  if (outcome.status === "lost_lease") return { summary, error: outcome.error };
  try {
    // The run has already waited for this server.
    const patience = outcome.status === "database_failed" ? { retryForMs: 1_000 } : {};
    await lease.end(
      { operation: "finishing the run", isDone: (connection) => isFinished(connection, id), ...patience },
      (connection) => finishRun(connection, id, summary, run.totals.listing),
    );
    return { summary, error: outcome.error };
  } catch (thrown) {
    const unfinished = outcomeOfError(thrown);
    return { summary: toSummary(run, unfinished, durationMs), error: unfinished.error };
  }
}

type Group = readonly [Reject, ...Reject[]];

/** Groups rejects by their library; those of no library form one group. `Map.groupBy` needs Node 21. */
function groupRejects(rejects: readonly Reject[]): Group[] {
  const groups = new Map<string, [Reject, ...Reject[]]>();
  for (const reject of rejects) {
    const text = reject.key === null ? "" : keyText(reject.key);
    const group = groups.get(text);
    if (group) group.push(reject);
    else groups.set(text, [reject]);
  }
  return [...groups.values()];
}

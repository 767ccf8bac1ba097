import { setMaxListeners } from "node:events";
import { hostname } from "node:os";
import type { DatabaseClock } from "../db/clock.ts";
import type { Connection, Pool } from "../db/connect.ts";
import { type Lease, withLease } from "../db/lease.ts";
import { markRemoved } from "../db/removals.ts";
import { finishRun, insertRun, readUnfinishedBackfill } from "../db/runs.ts";
import { type ListingWrite, saveListing } from "../db/save-listing.ts";
import { withTransaction } from "../db/transaction.ts";
import { keyText } from "../key.ts";
import type { LibraryKey, Listing, RunKind, RunReport, Selection, Trigger } from "../model.ts";
import type { Service } from "../service/client.ts";
import { came, type Ending, toEnding } from "./ending.ts";
import { toListingWrite } from "./listing-write.ts";
import { type Prepared, prepare, type RunSettings } from "./prepare.ts";
import type { RunEvent } from "./run-event.ts";
import { toReport } from "./run-report.ts";
import { selectorOf } from "./selection.ts";
import { storeContent } from "./store-content.ts";
import { openTally, type Tally } from "./tally.ts";
import { openTextReader } from "./texts.ts";
import { warnOfListing, warnOfReading } from "./warnings.ts";

export interface RunRequest {
  readonly kind: RunKind;
  readonly trigger: Trigger;
  readonly selection: Selection;
  readonly allowRemovals: boolean;
  /** Begin a backfill anew, even where an interrupted one could be gone on with. */
  readonly restart: boolean;
}

export interface RunTools {
  readonly pool: Pool;
  readonly clock: DatabaseClock;
  readonly service: Service;
  readonly settings: RunSettings;
  readonly version: string;
  readonly tell: (event: RunEvent) => void;
}

export interface RunResult {
  readonly report: RunReport;
  /** What ended the run before its time; null when it came to its end (`ok`, `partial`, `held`). */
  readonly error: Error | null;
}

type Write = <T>(doing: string, work: (connection: Connection) => Promise<T>) => Promise<T>;

/**
 * One run under the lease: list, plan, read and store, mark what is gone, tell. Aborting `signal` stops the reading;
 * what was read is still stored.
 * @throws BusyError, DatabaseError, or whatever keeps a run from beginning. Once it has a row, every ending is in the result
 */
export async function runSync(tools: RunTools, request: RunRequest, signal: AbortSignal): Promise<RunResult> {
  const holder = `${hostname()}:${process.pid}`;
  return withLease(tools.pool, tools.clock, holder, (lease) => runUnderLease(tools, request, lease, signal), signal);
}

async function runUnderLease(
  tools: RunTools,
  request: RunRequest,
  lease: Lease,
  signal: AbortSignal,
): Promise<RunResult> {
  const startedAt = performance.now();
  const write: Write = (doing, work) => writeFenced(tools.pool, lease, doing, work);
  const backfillSince = request.kind === "backfill" ? await readBackfillStart(tools, request) : null;
  const id = await write("starting the run", (connection) =>
    insertRun(connection, { ...request, backfillSince, version: tools.version }),
  );
  tools.tell({ kind: "started", id, run: request.kind });

  const tally = openTally();
  const reading = AbortSignal.any([signal, lease.lost]);
  // Every request in flight listens to it.
  setMaxListeners(0, reading);
  const ending = await prepare(tools, { ...request, backfillSince }, tools.settings, reading)
    .then((prepared) => carryOut(tools, request, prepared, { id, lease, write, tally }, reading))
    .catch(toEnding);

  Object.assign(tally.counts, tools.service.counters());
  const durationMs = performance.now() - startedAt;
  const report = toReport({ id, kind: request.kind, tally, ending, durationMs });
  if (ending.status === "lost_lease") return { report, error: ending.error };
  try {
    await write("finishing the run", (connection) => finishRun(connection, id, report));
    return { report, error: ending.error };
  } catch (thrown) {
    const unfinished = toEnding(thrown);
    return {
      report: toReport({ id, kind: request.kind, tally, ending: unfinished, durationMs }),
      error: unfinished.error,
    };
  }
}

interface Run {
  readonly id: number;
  readonly lease: Lease;
  readonly write: Write;
  readonly tally: Tally;
}

async function carryOut(
  tools: RunTools,
  request: RunRequest,
  prepared: Prepared,
  { id, lease, write, tally }: Run,
  signal: AbortSignal,
): Promise<Ending> {
  const { listing, plan, verdict } = prepared;
  tally.counts.librariesListed = listing.libraries.length;
  tally.rejected(listing.rejects);
  warnOfListing(tally, prepared);
  if (verdict.kind === "held" && verdict.storeNothing) return came("held", verdict.message);

  tally.skipped("unchanged", plan.skipped.unchanged);
  tally.skipped("not settled yet", plan.skipped["not settled yet"]);
  const toRead = plan.actions.length;
  tools.tell({ kind: "planned", listed: plan.listedInScope, toRead, skipped: plan.listedInScope - toRead });
  const news = toListingWrite(prepared, request.selection);
  if (isNews(news)) await write("recording the listing", (connection) => saveListing(connection, id, news));

  const texts = openTextReader(tools.settings.serviceTimezone);
  const { allowRemovals } = request;
  await storeContent({ ...tools, lease, runId: id, allowRemovals, tally, texts }, prepared, signal);
  warnOfReading(tally, texts);

  if (verdict.kind === "pass") tally.counts.librariesRemoved = await markGone(prepared, request, id, write);
  if (verdict.kind === "held") return came("held", verdict.message);
  return came(listing.incomplete === null ? tally.status() : "partial", null);
}

function isNews({ changed, restored, rejects, resolveOthers }: ListingWrite): boolean {
  return changed.length > 0 || restored.length > 0 || rejects.length > 0 || resolveOthers;
}

function markGone(
  { plan, stored, listing }: Prepared,
  { selection }: RunRequest,
  id: number,
  write: Write,
): Promise<number> {
  const neverStored = unlistedStrangers(stored, listing, selection);
  const gone = plan.missing.map((one) => one.key);
  if (gone.length + neverStored.length === 0) return Promise.resolve(0);
  return write("marking removed libraries", (connection) => markRemoved(connection, id, gone, neverStored));
}

/** Libraries that were listed once, never stored, and are not listed any more. */
function unlistedStrangers(stored: Prepared["stored"], listing: Listing, selection: Selection): LibraryKey[] {
  const listed = new Set(listing.libraries.map((one) => keyText(one.key)));
  const isSelected = selectorOf(selection);
  return [...stored]
    .filter(([text, one]) => !one.stored && !listed.has(text) && isSelected(one.key))
    .map(([, one]) => one.key);
}

/** Since when this backfill reads: since the interrupted one of the same scope began, if that is young enough, else from now. */
async function readBackfillStart(
  { pool, clock, settings }: RunTools,
  { restart, selection }: RunRequest,
): Promise<number> {
  const now = clock.now();
  const unfinished = restart ? null : await readUnfinishedBackfill(pool, selection);
  return unfinished !== null && now - unfinished < settings.fullEveryMs ? unfinished : now;
}

/** A transaction of this run: fenced by its token, and finished even when the reading was stopped. */
function writeFenced<T>(
  pool: Pool,
  lease: Lease,
  doing: string,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  return withTransaction(
    pool,
    { doing },
    async (connection) => {
      await lease.fence(connection);
      return work(connection);
    },
    lease.lost,
  );
}

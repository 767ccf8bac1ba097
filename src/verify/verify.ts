import { concurrently } from "../async.ts";
import { CircuitBreaker, manyFailed } from "../circuit-breaker.ts";
import { readNow } from "../db/clock.ts";
import type { Connection } from "../db/connect.ts";
import { readStored } from "../db/read/stored-libraries.ts";
import { readSnapshot } from "../db/transaction.ts";
import { ContentError, UnauthorizedError } from "../errors.ts";
import { formatKey, keyText } from "../key.ts";
import type { LibraryFailure, LibraryKey, ListedLibrary, ReceivedContent, StoredLibrary } from "../model.ts";
import type { Selection } from "../run-summary.ts";
import type { Service } from "../service/client.ts";
import { assertKnown } from "../sync/assert-known.ts";
import { CACHE_MARGIN_MS } from "../sync/plan-run.ts";
import { hashContent } from "../sync/read-libraries.ts";
import { decide } from "../sync/rules/decide.ts";
import { selectorOf } from "../sync/rules/selection.ts";
import { hasFailed, withSeenAt } from "../sync/rules/settle.ts";
import type { RunEvent, RunSettings } from "../sync/run-types.ts";
import { type ContentDifference, compareContent, type StoredSide, toDifference } from "./compare-content.ts";

interface CompareTools extends StoredSide {
  readonly service: Service;
  readonly settings: Pick<RunSettings, "concurrency" | "fullEveryMs" | "serviceTimezone">;
  readonly onEvent: (event: RunEvent) => void;
}

export interface LibraryDifference extends ContentDifference {
  /**
   * The command that resolves it. `sync`: the next sync, which reads the library or would mark it as removed. `later`: a later sync, because
   * the library settles or backs off. `backfill`: only a backfill that compares every row. `allow-removals`: its removal is held.
   */
  readonly remedy: "sync" | "later" | "backfill" | "allow-removals";
  /** For an unlisted library whose removal a guard holds: since when. Otherwise null. */
  readonly removalHeldAt: Date | null;
}

/** The result of one comparison. */
interface Findings {
  /** Listed libraries in scope. */
  readonly listed: number;
  /** Compared scenarios. */
  scenarios: number;
  differences: LibraryDifference[];
  unread: LibraryFailure[];
  /** Items that could not be compared because they are rejects, with the reason of the first; null: an entry without a readable key. */
  rejected: { readonly key: LibraryKey | null; readonly count: number; readonly reason: string }[];
  /** Why the listing is incomplete, so that libraries that it lacks were not compared; null if it is complete. */
  incomplete: string | null;
}

export interface VerifyReport extends Findings {
  readonly agrees: boolean;
  readonly durationMs: number;
  /** Libraries that differed in the first comparison and agreed in the second. */
  readonly passing: number;
}

/**
 * Compares the service with the database and writes nothing. Libraries that differ are compared a second time, because an
 * edit or a run between the two reads is not a difference.
 * @throws UsageError for a selected owner or library that is unknown on both sides; the errors of reading a listing;
 *   UnauthorizedError if the service revokes the key, SourceUnavailableError if the circuit breaker opens
 */
export async function verifyStored(tools: CompareTools, asked: Selection, signal: AbortSignal): Promise<VerifyReport> {
  const startedAt = performance.now();
  const { pool, source } = tools;
  const sides = await readSides(tools, signal);
  const selection = await assertKnown(asked, { listing: sides.listing, pool, source }, signal);

  const first = await compareSides(tools, sides, selectorOf(selection), signal);
  // It is compared again: it differs, or was removed after the listing was read.
  const gone = first.unread.filter(({ code }) => code === "not_found");
  const suspects = new Set([...first.differences, ...gone].map(labelOf));
  const findings = { ...first, passing: 0 };
  if (suspects.size > 0) {
    const isSuspect = (found: Keyed) => suspects.has(labelOf(found));
    const others = <T extends Keyed>(found: readonly T[]) => found.filter((one) => !isSuspect(one));
    const again = await readSides(tools, signal);
    const quiet = { ...tools, onEvent: () => {} };
    const second = await compareSides(quiet, again, (key) => isSuspect({ key }), signal);
    findings.differences = second.differences;
    findings.unread = [...others(first.unread), ...second.unread];
    findings.rejected = [...others(first.rejected), ...second.rejected.filter(({ key }) => key !== null)];
    findings.incomplete = first.incomplete ?? second.incomplete;
    findings.passing = suspects.size - new Set([...second.differences, ...second.unread].map(labelOf)).size;
  }
  const { differences, unread, rejected, incomplete } = findings;
  for (const found of [differences, unread, rejected]) found.sort(byLabel);
  const agrees = differences.length + unread.length + rejected.length === 0 && incomplete === null;
  return { ...findings, agrees, durationMs: Math.round(performance.now() - startedAt) };
}

interface Keyed {
  readonly key: LibraryKey | null;
}

/** The name of a library, the empty text without one. */
const labelOf = ({ key }: Keyed) => (key === null ? "" : formatKey(key));
const byLabel = (a: Keyed, b: Keyed) => (labelOf(a) < labelOf(b) ? -1 : Number(labelOf(a) > labelOf(b)));

/** Reads the service first: a run between the two reads then stores what was listed, or something newer. */
async function readSides({ service, pool, source }: CompareTools, signal: AbortSignal) {
  const listing = await service.listLibraries(signal);
  const read = async (connection: Connection) => {
    const stored = await readStored(connection, source);
    if (source === "views") for (const [text, library] of stored) stored.set(text, withSeenAt(library));
    return { listing, stored, now: (await readNow(connection)).getTime() };
  };
  return readSnapshot(pool, "reading what is stored", read, signal);
}

type Sides = Awaited<ReturnType<typeof readSides>>;

/** Compares the libraries in scope, reading the content of `concurrency` at a time. */
async function compareSides(
  tools: CompareTools,
  { listing, stored, now }: Sides,
  isInScope: (key: LibraryKey) => boolean,
  signal: AbortSignal,
): Promise<Findings> {
  const { service, settings, onEvent } = tools;
  const listed = [...listing.libraries].filter(({ key }) => isInScope(key));
  const isCompared = (key: LibraryKey | null) => key === null || isInScope(key);
  // That the listing is one page of several is no entry that could be corrected: `incomplete` says it.
  const rejects = listing.rejects.filter(({ key, code }) => isCompared(key) && code !== "paged_answer");
  const differences: LibraryDifference[] = [];
  const findings: Findings = {
    listed: listed.length,
    scenarios: 0,
    differences,
    unread: [],
    rejected: rejects.map(({ key, reason }) => ({ key, count: 1, reason })),
    incomplete: listing.incomplete,
  };
  const addOneSided = (key: LibraryKey, kind: LibraryDifference["kind"], heldAt: number | null = null) =>
    differences.push({
      ...toDifference(key, { kind, columns: [] }, []),
      remedy: heldAt === null ? "sync" : "allow-removals",
      removalHeldAt: heldAt === null ? null : new Date(heldAt),
    });
  /** The cache that answered knows no later event. */
  const isUnseen = (at: number) => listing.cachedMs > 0 && at >= now - listing.cachedMs - CACHE_MARGIN_MS;
  const both: [ListedLibrary, StoredLibrary][] = [];
  for (const one of listed) {
    const row = stored.get(keyText(one.key));
    if (row?.state === "live") both.push([one, row]);
    else if (row?.state !== "removed" || !isUnseen(row.removedAt))
      addOneSided(one.key, row?.state === "removed" ? "removed" : "missing");
  }
  // Only if none of the others could be read, the service counts as down because of these.
  both.sort(([, a], [, b]) => Number(hasFailed(a)) - Number(hasFailed(b)));
  for (const { key, state, sync } of listing.incomplete === null ? stored.values() : []) {
    const isMissing = state === "live" && isInScope(key) && listing.libraries.find(key) === undefined;
    if (isMissing && !isUnseen(sync?.contentReadAt ?? 0)) addOneSided(key, "unlisted", sync?.removalHeldAt);
  }
  onEvent({ kind: "planned", listed: both.length, toRead: both.length, skipped: 0 });

  const breaker = new CircuitBreaker();
  let hasRead = false;
  const compare = async (listed: ListedLibrary, row: StoredLibrary) => {
    const { key } = listed;
    const { sink, finish } = compareContent(tools, listed, signal);
    const read = await service.readContent({ ...key, failedBefore: hasFailed(row) }, sink, signal);
    breaker.reset();
    hasRead = true;
    const { scenarios, difference } = await finish(read);
    findings.scenarios += scenarios;
    if (difference !== null)
      differences.push({ ...difference, remedy: remedyFor(listed, row, read, now, settings), removalHeldAt: null });
    const [first] = read.rejects;
    if (first !== undefined) findings.rejected.push({ key, count: read.rejects.length, reason: first.reason });
    onEvent({ kind: "stored", key });
  };
  const fail = async (key: LibraryKey, row: StoredLibrary, error: unknown) => {
    if (!(error instanceof ContentError)) throw error;
    if (error.code === "unauthorized" && (await service.confirmKey(signal)) === "refused") {
      const message =
        "the service refused the key during the comparison: it was revoked or has expired. Set SIMCAT_API_KEY to a valid key and run simcat verify again";
      throw new UnauthorizedError(message, { cause: error });
    }
    const failure = { key, code: error.code, message: error.message };
    findings.unread.push(failure);
    onEvent({ kind: "failed", ...failure });
    if (!error.unavailable) return breaker.reset();
    const state = breaker.addFailure(hasFailed(row));
    if (state === "open" || (state === "doubtful" && !hasRead))
      throw manyFailed(error, "; run simcat verify again later");
  };
  const compared = concurrently(both, settings.concurrency, ([listed, row]) =>
    compare(listed, row).catch((error) => fail(listed.key, row, error)),
  );
  for await (const _ of compared);
  return findings;
}

/** A sync resolves a difference if it reads the library and its content hash is another one, so that it compares the rows. */
function remedyFor(
  listed: ListedLibrary,
  stored: StoredLibrary,
  read: ReceivedContent,
  now: number,
  { fullEveryMs, serviceTimezone }: CompareTools["settings"],
): LibraryDifference["remedy"] {
  const decision = decide(listed, stored, { now, fullEveryMs, backfillSince: null });
  const isPartial = read.rejects.length > 0 || listed.source === null;
  const isChanged = isPartial || stored.sync?.contentHash !== hashContent(listed, read, serviceTimezone);
  if (!isChanged || decision.reason === "unchanged") return "backfill";
  return decision.kind === "read" ? "sync" : "later";
}

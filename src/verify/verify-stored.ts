import { ascending } from "d3-array";
import { concurrently } from "../async.ts";
import { CircuitBreaker, outageError } from "../circuit-breaker.ts";
import { readNow } from "../db/clock.ts";
import type { Connection } from "../db/connect.ts";
import { type DifferenceKind, MAX_EXAMPLES, type RowDifference, type StoredRows } from "../db/read/compare-rows.ts";
import { streamStoredLibraries } from "../db/read/stored-libraries.ts";
import { readSnapshot } from "../db/transaction.ts";
import { ContentError, DatabaseError, SimcatError } from "../errors.ts";
import { formatKey, keyText } from "../key.ts";
import type { LibraryFailure, LibraryKey, ListedLibrary, ReceivedContent, StoredLibrary } from "../model.ts";
import type { Selection } from "../run-summary.ts";
import type { Service } from "../service/client.ts";
import { assertKnown } from "../sync/assert-known.ts";
import { hashContent } from "../sync/copy-libraries.ts";
import { decide } from "../sync/rules/decide.ts";
import { MIN_TOTAL_LOSS } from "../sync/rules/guard.ts";
import { selectorOf } from "../sync/rules/selection.ts";
import { CACHE_MARGIN_MS, hasFailed, isBackingOff, withSeenAt } from "../sync/rules/settle.ts";
import type { RunEvent, RunSettings } from "../sync/run-types.ts";
import { compareContent } from "./compare-content.ts";

interface CompareTools extends Pick<StoredRows, "pool" | "source" | "parsers"> {
  readonly service: Service;
  readonly settings: Pick<RunSettings, "concurrency" | "fullEveryMs" | "serviceTimezone">;
  readonly onEvent: (event: RunEvent) => void;
}

export type LibraryDifference = ReturnType<typeof toDifference>;

/**
 * The command that resolves a difference. `sync`: the next sync, which reads the library or would mark it as removed. `later`: a later
 * sync, because the library settles or backs off. `backfill`: only a backfill that compares every row. `allow-removals`: a guard holds it.
 */
type Remedy = "sync" | "later" | "backfill" | "allow-removals";

export type VerifyResult = Awaited<ReturnType<typeof verifyStored>>;

/**
 * Compares the service with the database and writes nothing. Libraries that differ are compared a second time, because an
 * edit or a run between the two reads is not a difference.
 * @throws UsageError for a selected owner or library that is unknown on both sides; in the first comparison, the errors of reading
 *   a listing, UnauthorizedError if the service revokes the key, SourceUnavailableError if the circuit breaker opens
 */
export async function verifyStored(tools: CompareTools, asked: Selection, signal: AbortSignal) {
  const startedAt = performance.now();
  const { pool, source } = tools;
  const sides = await readSides(tools, signal);
  const selection = await assertKnown(asked, { listing: sides.listing, pool, source }, signal);
  let findings = await compareSides(tools, sides, selectorOf(selection), signal);
  // A library that was removed after the listing was read is compared again too.
  const gone = findings.unread.filter(({ code }) => code === "not_found");
  const suspects = [...findings.differences, ...gone].map(({ key }) => key);
  /** Libraries that differed in the first comparison and agreed in the second. */
  let passing = 0;
  if (suspects.length > 0) {
    try {
      const isSuspect = selectorOf({ libraries: suspects, owners: [] });
      const isOther = ({ key }: Keyed) => key !== null && !isSuspect(key);
      const { listing, stored, now } = await readSides(tools, signal);
      const again = await compareSides({ ...tools, onEvent: () => {} }, { listing, stored, now }, isSuspect, signal);
      const wereListed = suspects.length - findings.differences.filter(({ kind }) => kind === "unlisted").length;
      findings = {
        ...findings,
        listed: findings.listed - wereListed + again.listed,
        agreeing: findings.agreeing + again.agreeing,
        differences: again.differences,
        unread: [...findings.unread.filter(isOther), ...again.unread],
        rejected: [...findings.rejected.filter(isOther), ...again.rejected],
        incomplete: findings.incomplete ?? again.incomplete,
        cachedMs: Math.max(findings.cachedMs, again.cachedMs),
      };
      const isGone = (key: LibraryKey) =>
        listing.incomplete === null && !listing.libraries.has(key) && stored.get(keyText(key))?.state !== "live";
      passing = again.agreeing + suspects.filter(isGone).length;
    } catch (error) {
      if (signal.aborted || !(error instanceof SimcatError) || error instanceof DatabaseError) throw error;
      // The first look may have taken an hour.
      const unconfirmed = `not confirmed by a second look: ${error.message}`;
      findings = { ...findings, incomplete: [findings.incomplete ?? [], unconfirmed].flat().join("; ") };
    }
  }
  const { differences, unread, rejected, incomplete } = findings;
  for (const found of [differences, unread, rejected]) found.sort((a, b) => ascending(labelOf(a), labelOf(b)));
  const agrees = differences.length + unread.length + rejected.length === 0 && incomplete === null;
  return { ...findings, agrees, passing, durationMs: Math.round(performance.now() - startedAt) };
}

type Keyed = { readonly key: LibraryKey | null };

/** An entry without a readable key is first. */
const labelOf = ({ key }: Keyed) => (key === null ? "" : formatKey(key));

interface FoundRows extends Pick<RowDifference, "kind"> {
  readonly columns?: RowDifference["columns"];
  readonly scenarios?: readonly RowDifference[];
}

/** Counts the scenarios by kind and keeps the first ones as examples. `heldAt`: since when a guard holds the library's removal. */
function toDifference(key: LibraryKey, found: FoundRows, remedy: Remedy, heldAt: number | null = null) {
  const { kind, columns = [], scenarios = [] } = found;
  const counts = { missing: 0, removed: 0, unlisted: 0, content: 0 };
  const examples = scenarios.filter((one) => ++counts[one.kind] <= MAX_EXAMPLES);
  return { key, kind, columns, counts, examples, remedy, removalHeldAt: heldAt === null ? null : new Date(heldAt) };
}

/** Reads the service first: a run between the two reads then stores what was listed, or something newer. */
async function readSides({ service, pool, source }: CompareTools, signal: AbortSignal) {
  const listing = await service.listLibraries(signal);
  const read = async (connection: Connection) => {
    const stored = new Map<string, StoredLibrary>();
    const add = (library: StoredLibrary) =>
      stored.set(keyText(library.key), source === "views" ? withSeenAt(library) : library);
    await streamStoredLibraries(connection, add, source);
    return { listing, stored, now: (await readNow(connection)).getTime() };
  };
  return readSnapshot(pool, "reading what is stored", read, signal);
}

/** Compares the libraries in scope, reading the content of `concurrency` at a time. */
async function compareSides(
  tools: CompareTools,
  { listing, stored, now }: Awaited<ReturnType<typeof readSides>>,
  isInScope: (key: LibraryKey) => boolean,
  signal: AbortSignal,
) {
  const { service, settings, onEvent } = tools;
  const { incomplete } = listing;
  const listed = [...listing.libraries].filter(({ key }) => isInScope(key));
  const differences: LibraryDifference[] = [];
  const unread: LibraryFailure[] = [];
  /**
   * Items that could not be compared because they are rejects, with the reason of the first; null: an entry without a readable key.
   * That the listing is one page of several is no entry that could be corrected: `incomplete` says it.
   */
  const rejected = listing.rejects
    .filter(({ key, code }) => (key === null || isInScope(key)) && code !== "paged_answer")
    .map(({ key, reason }) => ({ key, count: 1, reason }));
  /** Listed libraries that were compared completely and agree. */
  let agreeing = 0;
  /** Compared scenarios. */
  let scenarios = 0;
  /** For how long a cache had held the oldest answer, in ms; 0 when the service itself answered, infinite if that is unknown. */
  let cachedMs = listing.cachedMs;
  const live = [...stored.values()].filter(({ state }) => state === "live");
  const isShared = live.length < MIN_TOTAL_LOSS || live.some(({ key }) => listing.libraries.has(key));
  /** A sync takes it for another organization's listing, and stores and marks nothing. */
  const isForeign = listing.libraries.length > 0 && !isShared;
  const addOneSided = (key: LibraryKey, kind: DifferenceKind, remedy: Remedy, heldAt: number | null = null) =>
    differences.push(toDifference(key, { kind }, isForeign ? "allow-removals" : remedy, heldAt));
  /** The cache that answered knows no later event. */
  const isUnseen = (at: number) => listing.cachedMs > 0 && at >= now - listing.cachedMs - CACHE_MARGIN_MS;
  const both: [ListedLibrary, StoredLibrary][] = [];
  for (const one of listed) {
    const row = stored.get(keyText(one.key)) ?? null;
    if (row?.state === "live") both.push([one, row]);
    else if (row?.state !== "removed" || !isUnseen(row.removedAt))
      addOneSided(one.key, row?.state === "removed" ? "removed" : "missing", remedyFor(one, row, null, now, tools));
  }
  // Only if none of the others could be read, the service counts as down because of these.
  both.sort(([, a], [, b]) => Number(hasFailed(a)) - Number(hasFailed(b)));
  for (const { key, sync } of incomplete === null ? live : []) {
    const isMissing = isInScope(key) && listing.libraries.find(key) === undefined;
    const heldAt = sync?.removalHeldAt ?? null;
    if (isMissing && !isUnseen(sync?.contentReadAt ?? 0))
      addOneSided(key, "unlisted", heldAt === null ? "sync" : "allow-removals", heldAt);
  }
  onEvent({ kind: "planned", listed: both.length, toRead: both.length, skipped: 0 });

  const breaker = new CircuitBreaker();
  let hasRead = false;
  const compare = async (listed: ListedLibrary, row: StoredLibrary) => {
    const { key } = listed;
    const { sink, finish } = compareContent({ ...tools, key, signal }, listed);
    const read = await service.readContent({ ...key, failedBefore: hasFailed(row) }, sink, signal);
    breaker.reset();
    hasRead = true;
    const { compared, difference } = await finish(read);
    scenarios += compared;
    cachedMs = Math.max(cachedMs, read.cachedMs);
    if (difference !== null) differences.push(toDifference(key, difference, remedyFor(listed, row, read, now, tools)));
    const [first] = read.rejects;
    if (difference === null && first === undefined && listed.source !== null) agreeing += 1;
    if (first !== undefined) rejected.push({ key, count: read.rejects.length, reason: first.reason });
    onEvent({ kind: "stored", key });
  };
  const fail = (key: LibraryKey, row: StoredLibrary, error: unknown) => {
    if (!(error instanceof ContentError)) throw error;
    const failure = { key, code: error.code, message: error.message };
    unread.push(failure);
    onEvent({ kind: "failed", ...failure });
    if (!error.unavailable) return breaker.reset();
    const state = breaker.addFailure(hasFailed(row));
    if (state === "open" || (state === "doubtful" && !hasRead))
      throw outageError(error, "; run simcat verify again later");
  };
  const comparisons = concurrently(both, settings.concurrency, ([listed, row]) =>
    compare(listed, row).catch((error) => fail(listed.key, row, error)),
  );
  for await (const _ of comparisons);
  /** Why the comparison is incomplete, or null. */
  const lacking = incomplete === null ? null : `${incomplete}; libraries that it lacks were not compared`;
  return { listed: listed.length, agreeing, scenarios, differences, unread, rejected, incomplete: lacking, cachedMs };
}

/** A sync resolves a difference if it reads the library and its content hash is another one, so that it compares the rows. */
function remedyFor(
  listed: ListedLibrary,
  stored: StoredLibrary | null,
  read: ReceivedContent | null,
  now: number,
  { source, settings: { fullEveryMs, serviceTimezone } }: CompareTools,
): Remedy {
  const decision = decide(listed, stored, { now, fullEveryMs, backfillSince: null });
  const isPartial = read === null || read.rejects.length > 0 || listed.source === null;
  // The views show neither the last listed date nor the hash.
  if (source === "views" && stored?.sync && isBackingOff(now, stored.sync)) return "later";
  if (source === "views" && !isPartial && decision.reason !== "listed date changed") return "backfill";
  const isChanged = isPartial || stored?.sync?.contentHash !== hashContent(listed, read, serviceTimezone);
  if (!isChanged || decision.reason === "unchanged") return "backfill";
  return decision.kind === "read" ? "sync" : "later";
}

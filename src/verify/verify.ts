import { readNow } from "../db/clock.ts";
import type { Connection } from "../db/connect.ts";
import { readStored } from "../db/read/stored-libraries.ts";
import { readSnapshot } from "../db/transaction.ts";
import { formatKey, keyText } from "../key.ts";
import type { LibraryKey, Listing, StoredLibrary } from "../model.ts";
import type { Selection } from "../run-summary.ts";
import { assertKnown } from "../sync/assert-known.ts";
import { selectorOf } from "../sync/rules/selection.ts";
import { withSeenAt } from "../sync/rules/settle.ts";
import { type CompareTools, compareLibraries, type LibraryPair, summarizeScenarios } from "./compare-libraries.ts";
import type { Findings, LibraryDifference, VerifyReport } from "./findings.ts";

interface Sides {
  readonly listing: Listing;
  /** By `keyText`. */
  readonly stored: ReadonlyMap<string, StoredLibrary>;
  /** In database ms. */
  readonly now: number;
}

/**
 * Compares the service with the database and writes nothing. Libraries that differ are compared a second time, because an
 * edit or a run between the two reads is not a difference.
 * @throws UsageError for a selected owner or library that is unknown on both sides; the errors of reading a listing
 */
export async function verifyStored(
  tools: CompareTools,
  selection: Selection,
  signal: AbortSignal,
): Promise<VerifyReport> {
  const startedAt = performance.now();
  const sides = await readSides(tools, signal);
  const { pool, source } = tools;
  await assertKnown(selection, { listing: sides.listing, pool, source }, signal);

  const first = await compareSides(tools, sides, selectorOf(selection), signal);
  // It is compared again: it differs, or was removed after the listing was read.
  const gone = first.unread.filter(({ code }) => code === "not_found");
  const suspects = new Set([...first.differences, ...gone].map(textOf));
  const findings = suspects.size === 0 ? first : await compareAgain(first, suspects, tools, signal);
  const { differences, unread, rejected, incomplete } = findings;
  const confirmed = new Set([...differences, ...unread].map(textOf).filter((text) => suspects.has(text)));
  return {
    ...findings,
    differences: sortByKey(differences),
    unread: sortByKey(unread),
    rejected: sortByKey(rejected),
    agrees: differences.length + unread.length + rejected.length === 0 && incomplete === null,
    durationMs: Math.round(performance.now() - startedAt),
    passing: suspects.size - confirmed.size,
  };
}

interface Keyed {
  readonly key: LibraryKey | null;
}

const textOf = ({ key }: Keyed) => (key === null ? "" : keyText(key));

function sortByKey<T extends Keyed>(found: readonly T[]): T[] {
  const nameOf = ({ key }: Keyed) => (key === null ? "" : formatKey(key));
  return found.toSorted((a, b) => (nameOf(a) === nameOf(b) ? 0 : nameOf(a) < nameOf(b) ? -1 : 1));
}

/** Reads the service first: a run between the two reads then stores what was listed, or something newer. */
async function readSides({ service, pool, source }: CompareTools, signal: AbortSignal): Promise<Sides> {
  const listing = await service.listLibraries(signal);
  const read = async (connection: Connection) => {
    const stored = await readStored(connection, source);
    if (source === "views") for (const [text, library] of stored) stored.set(text, withSeenAt(library));
    return { stored, now: (await readNow(connection)).getTime() };
  };
  return { listing, ...(await readSnapshot(pool, "reading what is stored", read, signal)) };
}

async function compareSides(
  tools: CompareTools,
  { listing, stored, now }: Sides,
  isInScope: (key: LibraryKey) => boolean,
  signal: AbortSignal,
): Promise<Findings> {
  const both: LibraryPair[] = [];
  const differences: LibraryDifference[] = [];
  const addOneSided = (key: LibraryKey, kind: LibraryDifference["kind"], heldAt: number | null = null) =>
    differences.push({
      key,
      kind,
      remedy: heldAt === null ? "sync" : "allow-removals",
      columns: [],
      ...summarizeScenarios([]),
      removalHeldAt: heldAt === null ? null : new Date(heldAt),
    });
  const listed = [...listing.libraries].filter(({ key }) => isInScope(key));
  for (const one of listed) {
    const row = stored.get(keyText(one.key));
    if (row?.state === "live") both.push({ listed: one, stored: row });
    else addOneSided(one.key, row?.state === "removed" ? "removed" : "missing");
  }
  if (listing.incomplete === null) {
    for (const { key, state, sync } of stored.values())
      if (state === "live" && isInScope(key) && listing.libraries.find(key) === undefined)
        addOneSided(key, "unlisted", sync?.removalHeldAt);
  }
  tools.onEvent({ kind: "planned", listed: both.length, toRead: both.length, skipped: 0 });
  const content = await compareLibraries(both, now, tools, signal);
  const rejects = listing.rejects.filter(({ key }) => key === null || isInScope(key));
  return {
    ...content,
    listed: listed.length,
    differences: [...differences, ...content.differences],
    rejected: [...rejects.map(({ key, reason }) => ({ key, count: 1, reason })), ...content.rejected],
    incomplete: listing.incomplete,
  };
}

/** Compares the suspects once more, and takes all other findings from the first comparison. */
async function compareAgain(
  first: Findings,
  suspects: ReadonlySet<string>,
  tools: CompareTools,
  signal: AbortSignal,
): Promise<Findings> {
  const quiet = { ...tools, onEvent: () => {} };
  const sides = await readSides(tools, signal);
  const second = await compareSides(quiet, sides, (key) => suspects.has(keyText(key)), signal);
  const isNoSuspect = (found: Keyed) => !suspects.has(textOf(found));
  return {
    ...first,
    differences: second.differences,
    unread: [...first.unread.filter(isNoSuspect), ...second.unread],
    rejected: [...first.rejected.filter(isNoSuspect), ...second.rejected.filter(({ key }) => key !== null)],
    incomplete: first.incomplete ?? second.incomplete,
  };
}

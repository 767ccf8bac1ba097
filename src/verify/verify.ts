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
import {
  type CompareTools,
  compareLibraries,
  type Findings,
  type LibraryDifference,
  type LibraryPair,
  summarizeScenarios,
} from "./compare-libraries.ts";

export interface VerifyReport extends Findings {
  readonly agrees: boolean;
  readonly durationMs: number;
  /** Libraries that differed in the first comparison and agreed in the second. */
  readonly passing: number;
}

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
  const findings = { ...first, passing: 0 };
  if (suspects.size > 0) {
    const isSuspect = (found: Keyed) => suspects.has(textOf(found));
    const others = <T extends Keyed>(found: readonly T[]) => found.filter((one) => !isSuspect(one));
    const again = await readSides(tools, signal);
    const quiet = { ...tools, onEvent: () => {} };
    const second = await compareSides(quiet, again, (key) => isSuspect({ key }), signal);
    findings.differences = second.differences;
    findings.unread = [...others(first.unread), ...second.unread];
    findings.rejected = [...others(first.rejected), ...second.rejected.filter(({ key }) => key !== null)];
    findings.incomplete = first.incomplete ?? second.incomplete;
    findings.passing = suspects.size - new Set([...second.differences, ...second.unread].map(textOf)).size;
  }
  const { differences, unread, rejected, incomplete } = findings;
  for (const found of [differences, unread, rejected]) found.sort(byLabel);
  const agrees = differences.length + unread.length + rejected.length === 0 && incomplete === null;
  return { ...findings, agrees, durationMs: Math.round(performance.now() - startedAt) };
}

interface Keyed {
  readonly key: LibraryKey | null;
}

const textOf = ({ key }: Keyed) => (key === null ? "" : keyText(key));
const labelOf = ({ key }: Keyed) => (key === null ? "" : formatKey(key));
const byLabel = (a: Keyed, b: Keyed) => (labelOf(a) < labelOf(b) ? -1 : Number(labelOf(a) > labelOf(b)));

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
  const listed = [...listing.libraries].filter(({ key }) => isInScope(key));
  const rejects = listing.rejects.filter(({ key }) => key === null || isInScope(key));
  const findings: Findings = {
    listed: listed.length,
    scenarios: 0,
    differences: [],
    unread: [],
    rejected: rejects.map(({ key, reason }) => ({ key, count: 1, reason })),
    incomplete: listing.incomplete,
  };
  const addOneSided = (key: LibraryKey, kind: LibraryDifference["kind"], heldAt: number | null = null) =>
    findings.differences.push({
      key,
      kind,
      remedy: heldAt === null ? "sync" : "allow-removals",
      columns: [],
      ...summarizeScenarios([]),
      removalHeldAt: heldAt === null ? null : new Date(heldAt),
    });
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
  await compareLibraries(both, now, findings, tools, signal);
  return findings;
}

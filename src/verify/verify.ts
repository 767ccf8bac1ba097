import { readStored } from "../db/read/stored-libraries.ts";
import { readSnapshot } from "../db/transaction.ts";
import { formatKey, keyText } from "../key.ts";
import type { LibraryKey, Listing, StoredLibrary } from "../model.ts";
import type { Selection } from "../run-report.ts";
import { assertKnown } from "../sync/assert-known.ts";
import { selectorOf } from "../sync/rules/selection.ts";
import { type CompareTools, compareLibraries } from "./compare-libraries.ts";
import { compareListing } from "./compare-listing.ts";
import type { Findings, VerifyReport } from "./findings.ts";

interface Sides {
  readonly listing: Listing;
  readonly stored: ReadonlyMap<string, StoredLibrary>;
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
  await assertKnown(selection, { listing: sides.listing, pool: tools.pool }, signal);

  const first = await compareSides(tools, sides, selectorOf(selection), signal);
  const suspects = suspectsOf(first);
  const second = suspects.size === 0 ? null : await compareAgain(tools, suspects, signal);
  const findings = sortByKey(second === null ? first : merge(first, second, suspects));
  const { differences, unread, rejected, incomplete } = findings;
  return {
    ...findings,
    agrees: differences.length + unread.length + rejected.length === 0 && incomplete === null,
    durationMs: Math.round(performance.now() - startedAt),
    passing: suspects.size - new Set([...differences, ...unread].map(textOf).filter((text) => suspects.has(text))).size,
  };
}

/** Reads the service first: a run between the two reads then stores what was listed, or something newer. */
async function readSides({ service, pool }: CompareTools, signal: AbortSignal): Promise<Sides> {
  const listing = await service.listLibraries(signal);
  return { listing, stored: await readSnapshot(pool, "reading what is stored", readStored, signal) };
}

async function compareSides(
  tools: CompareTools,
  { listing, stored }: Sides,
  isInScope: (key: LibraryKey) => boolean,
  signal: AbortSignal,
): Promise<Findings> {
  const { both, differences, rejected } = compareListing(listing, stored, isInScope);
  tools.onEvent({ kind: "planned", listed: both.length, toRead: both.length, skipped: 0 });
  const content = await compareLibraries(both, tools, signal);
  return {
    listed: [...listing.libraries].filter(({ key }) => isInScope(key)).length,
    scenarios: content.scenarios,
    differences: [...differences, ...content.differences],
    unread: content.unread,
    rejected: [...rejected, ...content.rejected],
    incomplete: listing.incomplete,
  };
}

const textOf = ({ key }: { readonly key: LibraryKey }) => keyText(key);

/** The libraries to compare again: those that differ, and those that were removed after the listing was read. */
function suspectsOf({ differences, unread }: Findings): Set<string> {
  return new Set([...differences, ...unread.filter(({ code }) => code === "not_found")].map(textOf));
}

async function compareAgain(
  tools: CompareTools,
  suspects: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Findings> {
  const quiet = { ...tools, onEvent: () => {} };
  return compareSides(quiet, await readSides(tools, signal), (key) => suspects.has(keyText(key)), signal);
}

/** Takes the suspects from the second comparison and all others from the first. */
function merge(first: Findings, second: Findings, suspects: ReadonlySet<string>): Findings {
  const isNoSuspect = ({ key }: { readonly key: LibraryKey | null }) => key === null || !suspects.has(keyText(key));
  return {
    ...first,
    differences: second.differences,
    unread: [...first.unread.filter(isNoSuspect), ...second.unread],
    rejected: [...first.rejected.filter(isNoSuspect), ...second.rejected.filter(({ key }) => key !== null)],
    incomplete: first.incomplete ?? second.incomplete,
  };
}

function sortByKey(findings: Findings): Findings {
  const order = (a: { readonly key: LibraryKey | null }, b: { readonly key: LibraryKey | null }) => {
    const [first, second] = [a, b].map(({ key }) => (key === null ? "" : formatKey(key)));
    return first === second ? 0 : (first ?? "") < (second ?? "") ? -1 : 1;
  };
  const { differences, unread, rejected } = findings;
  return {
    ...findings,
    differences: differences.toSorted(order),
    unread: unread.toSorted(order),
    rejected: rejected.toSorted(order),
  };
}

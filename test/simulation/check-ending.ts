import { UsageError } from "../../src/errors.ts";
import type { LibraryKey } from "../../src/model.ts";
import { difference } from "./check-equal.ts";
import type { PerformedRun } from "./perform-run.ts";
import { keyOf, type Seen } from "./reader.ts";
import type { Simulation } from "./simulation.ts";

/** Checks that a run's report of itself is true. */
export async function checkEnding(
  simulation: Simulation,
  performed: PerformedRun,
  sight: ReadonlyMap<string, Seen>,
): Promise<string[]> {
  const { ended, heard, listings, others, plan } = performed;
  const wrong: string[] = [];
  const refused = plan.accidents.some(({ what }) => what.kind === "refuse");
  const isUsage = ended.error instanceof UsageError;
  if (ended.status === "failed" && !refused)
    wrong.push(`endings: ${heard.run} failed unexpectedly: ${String(ended.error)}`);
  if (ended.status === "refused" && plan.accidents.length === 0 && !isUsage) {
    wrong.push(`endings: ${heard.run} did not begin: ${String(ended.error)}`);
  }
  if (ended.status !== "ok" || others.length > 0) return wrong;

  const ok = (what: string) => wrong.push(`ok: ${heard.run} said ok, and ${what}`);
  if (heard.listing === null) ok("it had no listing");
  const read = ended.summary?.counts.librariesRead ?? 0;
  if (heard.whole.size < read) ok(`it read ${read} libraries, and the whole of ${heard.whole.size}`);
  const open = await simulation.control.query<LibraryKey & { code: string }>(
    "SELECT code, owner, library_name AS name FROM simcat.rejects WHERE resolved_at IS NULL AND NOT (kind = 'listing' AND $1)",
    [heard.isSlice],
  );
  for (const { code, ...library } of open) {
    const key = keyOf(library);
    // A slice cannot mark a library that is no longer listed, and so it keeps its rejects.
    const isBeyond = heard.isSlice && heard.listing?.keys.has(key) === false;
    if (!heard.isSelected(key) || isBeyond) continue;
    ok(`there is an open reject (${code}) of ${library.owner}/${library.name}`);
  }
  if (heard.misled || listings[0] !== listings[1]) return wrong;

  const { organization } = simulation.service;
  for (const library of organization.libraries()) {
    const key = keyOf(library);
    if (!heard.isSelected(key)) continue;
    const seen = sight.get(key);
    // Perhaps it was read only because another one lost a field.
    const isStored = ended.stored.has(key);
    if (!isStored && seen?.live) continue;
    const found = difference(library, seen);
    if (found !== null) ok(`${key} ${found}`);
  }
  const there = new Set(organization.libraries().map(keyOf));
  for (const [key, seen] of sight)
    if (seen.live && !there.has(key) && heard.isSelected(key) && !heard.isSlice) ok(`${key} is live and not listed`);
  return wrong;
}

import { UsageError } from "../../src/errors.ts";
import { difference } from "./check-equal.ts";
import type { PerformedRun } from "./perform-run.ts";
import { keyOf, parseKey, type Seen } from "./reader.ts";
import type { Simulation } from "./simulation.ts";

/**
 * Checks a run in which the database refused the rows of one library: only that library failed, its failure was recorded,
 * and every other library was stored as received.
 */
export async function checkPoison(
  { control, service, edits }: Simulation,
  { ended, isCompleted, failed, heard, listings, others, plan }: PerformedRun,
  sight: ReadonlyMap<string, Seen>,
): Promise<string[]> {
  const { poison } = plan;
  if (poison === null || plan.accidents.length > 0 || others.length > 0) return [];
  const wrong: string[] = [];
  const isUsage = ended.error instanceof UsageError;
  // If it cannot record a single hold, the run ends.
  const mayHold = poison.table === "library_sync" && heard.listing?.keys.has(poison.key) === false;
  const isHoldRefused = ended.status === "database_failed" && mayHold;
  if (["failed", "database_failed", "refused"].includes(ended.status) && !isUsage && !isHoldRefused) {
    wrong.push(`poison: ${heard.run} ended as ${ended.status} for ${poison.key}: ${String(ended.error)}`);
  }
  for (const [key, code] of failed) {
    if (code === "rejected_by_database" && key !== poison.key)
      wrong.push(`poison: ${heard.run} failed ${key} for ${poison.key}`);
  }
  if (failed.get(poison.key) === "rejected_by_database" && poison.table !== "library_sync") {
    const recorded = await control.query(
      "SELECT FROM simcat.library_sync WHERE jsonb_build_array(owner, library_name) = $1::jsonb AND failures > 0",
      [poison.key],
    );
    if (heard.listing?.keys.has(poison.key) && recorded.length === 0) {
      wrong.push(`poison: ${heard.run} did not record that ${poison.key} failed`);
    }
  }
  if (!isCompleted || heard.misled || listings[0] !== listings[1]) return wrong;
  // Content may arrive that the run asked for only to learn that the service is not down.
  if (ended.summary?.counts.librariesRead === 0) return wrong;
  const withheld = new Set((ended.summary?.warnings ?? []).map(({ key }) => (key ? keyOf(key) : "")));
  for (const [key, { metadata, scenarios }] of heard.content) {
    const isWhole = [metadata, scenarios].every(
      (said) => said !== undefined && said.kind !== "nothing" && !said.partial,
    );
    const { owner, name } = parseKey(key);
    const library = service.organization.get(owner, name);
    // Such a library was perhaps read only because another one lost a field.
    if (!heard.isSelected(key) || edits.undated.has(key) || service.lied.has(key)) continue;
    if (!isWhole || key === poison.key || failed.has(key) || withheld.has(key) || library === undefined) continue;
    const found = difference(library, sight.get(key));
    if (found !== null) wrong.push(`poison: ${heard.run} did not store ${key} beside ${poison.key}: it ${found}`);
  }
  return wrong;
}

import { NO_LIBRARY } from "./answers.ts";
import type { PerformedRun } from "./perform-run.ts";
import { keyOf } from "./reader.ts";
import type { Simulation } from "./simulation.ts";

/** Bookmarks that an equal text would settle, although the stored metadata names no existing library. */
const SETTLING = `
SELECT owner, library_name AS name FROM simcat.libraries JOIN simcat.library_sync y USING (owner, library_name)
WHERE metadata->>'libraryName' = $1 AND y.listed_text = y.bookmark AND y.reread_reason IS NULL AND y.suspect_reads = 0`;

/**
 * Checks that only libraries with swapped answers failed as mismatched, and that no wrong name settles. The ledger
 * reports content that was stored under another key.
 */
export async function checkSwaps({ server }: Simulation, { heard, ended }: PerformedRun): Promise<string[]> {
  const failures = ended.report?.failures ?? [];
  const untrue = failures.filter(
    ({ code, key }) => code === "mismatched" && !heard.swapped.has(keyOf(key.owner, key.name)),
  );
  const settling = await server.control.query<{ owner: string; name: string }>(SETTLING, [NO_LIBRARY]);
  return [
    ...untrue.map(
      ({ key }) => `swaps: ${heard.run} took the answers for ${key.owner}/${key.name} for another library's`,
    ),
    ...settling.map(({ owner, name }) => `swaps: ${owner}/${name} settles under metadata with another name`),
  ];
}

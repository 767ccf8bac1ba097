import { NO_LIBRARY } from "./answers.ts";
import type { Heard } from "./ledger.ts";
import type { PerformedRun } from "./perform-run.ts";
import { keyOf } from "./reader.ts";
import type { Simulation } from "./simulation.ts";

/** Bookmarks that an equal text would settle, although the stored metadata names no existing library, or was swapped. */
const SETTLING = `
SELECT owner, library_name AS name FROM simcat.libraries JOIN simcat.library_sync y USING (owner, library_name)
WHERE (metadata->>'libraryName' = $1 OR (metadata->>'libraryOwner' <> owner AND (owner, library_name) IN
    (SELECT key->>0, key->>1 FROM jsonb_array_elements($2::jsonb) AS key)))
  AND y.listed_text = y.bookmark AND y.reread_reason IS NULL AND y.suspect_reads = 0
  -- A text that was listed again after the read settles nothing before the next one.
  AND y.content_read_at > y.bookmark_seen_at`;

/** Whether the metadata names another user, who has a listed library of the same name. */
function isNamesakes({ content, listing }: Heard, key: string): boolean {
  const metadata = content.get(key)?.metadata;
  const [owner, name] = JSON.parse(key) as [string, string];
  if (metadata?.kind !== "metadata" || metadata.metadata === null) return false;
  const { libraryOwner } = JSON.parse(metadata.metadata) as { libraryOwner?: string };
  return Boolean(libraryOwner) && libraryOwner !== owner && listing?.keys.has(keyOf(libraryOwner ?? "", name)) === true;
}

/**
 * Checks that only libraries with swapped answers failed as mismatched, and that no wrong name settles. The ledger
 * reports content that was stored under another key.
 */
export async function checkSwaps({ server }: Simulation, { heard, ended }: PerformedRun): Promise<string[]> {
  const failures = ended.summary?.failures ?? [];
  const untrue = failures.filter(
    ({ code, key }) => code === "mismatched" && !heard.swapped.has(keyOf(key.owner, key.name)),
  );
  const doubtful = [...ended.stored].filter((key) => heard.swapped.has(key) || isNamesakes(heard, key));
  const settling = await server.control.query<{ owner: string; name: string }>(SETTLING, [NO_LIBRARY, `[${doubtful}]`]);
  return [
    ...untrue.map(
      ({ key }) => `swaps: ${heard.run} took the answers for ${key.owner}/${key.name} for another library's`,
    ),
    ...settling.map(({ owner, name }) => `swaps: ${owner}/${name} settles under metadata of another library`),
  ];
}

import type { Organization } from "../../src/mock/organization.ts";
import type { Random } from "../../src/mock/random.ts";
import type { LibraryKey } from "../../src/model.ts";
import { metadataSource, scenarioSource } from "../support/mock/answer.ts";
import type { FaultAction } from "../support/mock/faults.ts";
import type { MockLibrary } from "../support/mock/library.ts";
import { type Corruption, GOOD, NO_LIBRARY } from "./answers.ts";
import type { Heard } from "./ledger.ts";
import type { PerformedRun } from "./perform-run.ts";
import { keyOf, parseKey } from "./reader.ts";
import type { Simulation } from "./simulation.ts";

/** The answers that a library's requests receive in a run: its own, another library's, or its own under another name. */
export type Swap = "none" | "misnamed" | { readonly other: MockLibrary };

/** The key that metadata names; no library's if it omits a part. */
function namedBy(library: MockLibrary): string {
  const { libraryOwner: owner, libraryName: name } = JSON.parse(metadataSource(library));
  return keyOf({ owner, name });
}

/**
 * Another library of the owner or of the same name that the run's listing has and its own metadata names; no other swap can
 * be detected.
 */
export function drawSwap(chance: number, key: string, { libraries }: Organization, heard: Heard, random: Random): Swap {
  if (!random.chance(chance)) return "none";
  if (random.chance(0.5)) return "misnamed";
  const { owner, name } = parseKey(key);
  const others = libraries().filter((one) => {
    const other = keyOf(one);
    const isNear = one.owner === owner || one.name === name;
    return isNear && other !== key && heard.listing?.keys.has(other) && namedBy(one) === other;
  });
  if (others.length === 0) return "none";
  // Libraries of one name differ only by their owners.
  const namesakes = others.filter((one) => one.name === name);
  return { other: random.pick(namesakes.length > 0 ? namesakes : others) };
}

export function corruptSwapped(what: "metadata" | "scenarios", library: MockLibrary, swap: Swap): Corruption {
  if (swap === "none" || (swap === "misnamed" && what === "scenarios")) return GOOD;
  if (swap === "misnamed") {
    const renamed: FaultAction = { kind: "alterItem", index: 0, set: { libraryName: NO_LIBRARY } };
    return { name: "misnamed", actions: [renamed], content: "misnamed" };
  }
  const { other } = swap;
  const text = what === "metadata" ? metadataSource(other) : `[${other.scenarios.map(scenarioSource).join(",")}]`;
  const actions: FaultAction[] = [{ kind: "wrongBody", body: text }];
  const name = `that of ${other.owner}/${other.name}`;
  // The name does not show it: the libraryOwner may be another user's.
  if (other.name === library.name) return { name, actions, content: "aged", stale: other };
  // Nothing of it may be stored: to a correct reader it has no information about this library.
  return { name, actions, content: "lost" };
}

/** Bookmarks that an equal text would settle, although the stored metadata names no existing library, or was swapped. */
const SETTLING = `
SELECT owner, library_name AS name FROM simcat.libraries JOIN simcat.library_sync y USING (owner, library_name)
WHERE (metadata->>'libraryName' = $1 OR (metadata->>'libraryOwner' <> owner AND (owner, library_name) IN
    (SELECT key->>0, key->>1 FROM jsonb_array_elements($2::jsonb) AS key)))
  AND y.listed_text = y.bookmark AND y.reread_reason IS NULL AND y.suspect_reads = 0
  -- A text that was listed again after the read settles nothing before the next one.
  AND y.content_read_at > y.bookmark_seen_at
  -- Not what a run beside this one has read since, whose listing may lack the namesake.
  AND y.content_read_at <= coalesce((SELECT finished_at FROM simcat.sync_runs WHERE id = $3), 'infinity')`;

/** Whether the metadata names another user, who has a listed library of the same name. */
function isNamesakes({ content, listing }: Heard, key: string): boolean {
  const metadata = content.get(key)?.metadata;
  const { owner, name } = parseKey(key);
  if (metadata?.kind !== "metadata" || metadata.metadata === null) return false;
  const { libraryOwner = "" } = JSON.parse(metadata.metadata) as { libraryOwner?: string };
  return libraryOwner !== owner && listing?.keys.has(keyOf({ owner: libraryOwner, name })) === true;
}

/**
 * Checks that only libraries with swapped answers failed as mismatched, and that no wrong name settles. The ledger
 * reports content that was stored under another key.
 */
export async function checkSwaps({ control }: Simulation, { heard, ended, failed }: PerformedRun): Promise<string[]> {
  const untrue = [...failed].filter(([key, code]) => code === "mismatched" && !heard.swapped.has(key));
  const doubtful = [...ended.stored].filter((key) => heard.swapped.has(key) || isNamesakes(heard, key));
  const settling = await control.query<LibraryKey>(SETTLING, [NO_LIBRARY, `[${doubtful}]`, ended.summary?.id ?? null]);
  return [
    ...untrue.map(([key]) => `swaps: ${heard.run} took the answers for ${key} for another library's`),
    ...settling.map(({ owner, name }) => `swaps: ${owner}/${name} settles under metadata of another library`),
  ];
}

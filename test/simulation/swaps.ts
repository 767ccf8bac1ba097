import type { Organization } from "../../src/mock/organization.ts";
import type { Random } from "../../src/mock/random.ts";
import { metadataSource, scenarioSource } from "../support/mock/answer.ts";
import type { FaultAction } from "../support/mock/faults.ts";
import type { MockLibrary } from "../support/mock/library.ts";
import { type Corruption, GOOD, NO_LIBRARY } from "./answers.ts";
import type { Heard } from "./ledger.ts";
import { keyOf } from "./reader.ts";

/** The answers that a library's requests receive in a run: its own, another library's, or its own under another name. */
export type Swap = "none" | "misnamed" | { readonly other: MockLibrary };

/** The library that metadata names; null if it omits a part. */
function namedBy(library: MockLibrary): string | null {
  const { libraryOwner, libraryName }: { libraryOwner?: unknown; libraryName?: unknown } = JSON.parse(
    metadataSource(library),
  );
  return typeof libraryOwner === "string" && typeof libraryName === "string" ? keyOf(libraryOwner, libraryName) : null;
}

/**
 * Another library of the owner or of the same name that the run's listing has and its own metadata names; no other swap can
 * be detected.
 */
export function drawSwap(chance: number, key: string, { libraries }: Organization, heard: Heard, random: Random): Swap {
  if (!random.chance(chance)) return "none";
  if (random.chance(0.5)) return "misnamed";
  const [owner, name] = JSON.parse(key) as [string, string];
  const others = libraries().filter((one) => {
    const other = keyOf(one.owner, one.name);
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
  const actions: FaultAction[] = [{ kind: "wrongBody", text }];
  const name = `that of ${other.owner}/${other.name}`;
  // The name does not show it: the libraryOwner may be another user's.
  if (other.name === library.name) return { name, actions, content: "aged", stale: other };
  // Nothing of it may be stored: to a correct reader it has no information about this library.
  return { name, actions, content: "lost" };
}

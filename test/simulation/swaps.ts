import { metadataSource, scenarioSource } from "../../src/mock/answer.ts";
import type { Random } from "../../src/mock/random.ts";
import type { MockLibrary, Organization } from "../../src/mock/types.ts";
import type { FaultAction } from "../support/mock/faults.ts";
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

/** Another library that the run's listing has and its own metadata names; no other swap can be detected. */
export function drawSwap(chance: number, key: string, { libraries }: Organization, heard: Heard, random: Random): Swap {
  if (!random.chance(chance)) return "none";
  if (random.chance(0.5)) return "misnamed";
  const others = libraries().filter((one) => {
    const other = keyOf(one.owner, one.name);
    return other !== key && heard.listing?.keys.has(other) && namedBy(one) === other;
  });
  if (others.length === 0) return "none";
  // Libraries of one name differ only by their owners.
  const namesakes = others.filter((one) => key === keyOf(JSON.parse(key)[0], one.name));
  return { other: random.pick(namesakes.length > 0 ? namesakes : others) };
}

export function corruptSwapped(what: "metadata" | "scenarios", swap: Swap): Corruption {
  if (swap === "none" || (swap === "misnamed" && what === "scenarios")) return GOOD;
  if (swap === "misnamed") {
    const renamed: FaultAction = { kind: "alterItem", index: 0, set: { libraryName: NO_LIBRARY } };
    return { name: "misnamed", actions: [renamed], content: "misnamed" };
  }
  const { other } = swap;
  const text = what === "metadata" ? metadataSource(other) : `[${other.scenarios.map(scenarioSource).join(",")}]`;
  // Nothing of it may be stored: to a correct reader it has no information about this library.
  return { name: `that of ${other.owner}/${other.name}`, actions: [{ kind: "wrongBody", text }], content: "lost" };
}

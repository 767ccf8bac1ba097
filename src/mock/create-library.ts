import { createScenarios } from "./create-scenarios.ts";
import type { MockLibrary, MockScenario } from "./nouns.ts";
import { createDescription, createFileSize, createPackage } from "./prose.ts";
import { createRandom, type Random } from "./random.ts";
import type { Stamp } from "./stamp.ts";

/** The organization's own name: some libraries belong to it rather than to the user who uploaded them. */
const ORGANIZATION = "Boreal Futures Lab";

/** One library with `count` scenarios, created on first use, because most libraries of a large organization are never read. */
export function createLibrary(
  random: Random,
  key: { readonly owner: string; readonly name: string },
  scenarioCount: number,
  modifiedAt: Date,
  stamp: Stamp,
): MockLibrary {
  const seed = random.below(0x1_0000_0000);
  let scenarios: readonly MockScenario[] | null = null;
  return {
    owner: key.owner,
    name: key.name,
    libraryOwner: random.chance(0.12) ? ORGANIZATION : key.owner,
    lastModified: stamp.text(modifiedAt),
    fileSize: createFileSize(random),
    ...createPackage(random),
    description: createDescription(random),
    get scenarios() {
      scenarios ??= createScenarios(createRandom(seed), scenarioCount, modifiedAt, stamp);
      return scenarios;
    },
  };
}

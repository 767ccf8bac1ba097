import { amendLibrary, amendScenario, nextScenarioId } from "./amend.ts";
import { createParent, createResult } from "./create-scenarios.ts";
import { createNewName, createScenarioName } from "./names.ts";
import type { MockLibrary, MockScenario, Organization } from "./nouns.ts";
import type { Random } from "./random.ts";
import type { Stamp } from "./stamp.ts";

/** Changes the organization and returns a description of the change. */
export type Edit = (organization: Organization, library: MockLibrary, random: Random, stamp: Stamp) => string;

/** Adds a result to a parent; to a new one where there is none. */
export const runParent: Edit = (organization, library, random, stamp) => {
  const parents = library.scenarios.filter((scenario) => !scenario.isResult);
  if (parents.length === 0) return addParent(organization, library, random, stamp);
  const parent = random.pick(parents);
  const result = createResult(random, nextScenarioId(library), parent, stamp.now(), stamp);
  add(organization, library, result);
  return `ran scenario ${parent.scenarioId} of ${title(library)}: result ${result.scenarioId}`;
};

export const addParent: Edit = (organization, library, random, stamp) => {
  const parent = createParent(random, nextScenarioId(library), createScenarioName(random), stamp.now(), stamp);
  add(organization, library, parent);
  return `added scenario ${parent.scenarioId} to ${title(library)}`;
};

/** Another name or description under a new date. */
export const editScenario: Edit = (organization, library, random, stamp) => {
  if (library.scenarios.length === 0) return addParent(organization, library, random, stamp);
  const scenario = random.pick(library.scenarios);
  const lastModified = stamp.text(stamp.now());
  const change = random.chance(0.5)
    ? { scenarioName: `${createNewName(random)} ${random.between(3, 99)}` }
    : { description: `Edited, revision ${random.below(1_000_000)}` };
  const scenarios = amendScenario(library, scenario.scenarioId, { ...change, lastModified });
  amendLibrary(organization, library.owner, library.name, { scenarios, lastModified });
  return `edited scenario ${scenario.scenarioId} of ${title(library)}`;
};

/** Its results stay, as they do when a parent is deleted. */
export const deleteScenario: Edit = (organization, library, random, stamp) => {
  if (library.scenarios.length === 0) return addParent(organization, library, random, stamp);
  const scenario = random.pick(library.scenarios);
  amendLibrary(organization, library.owner, library.name, {
    scenarios: amendScenario(library, scenario.scenarioId, null),
    deleted: [...(library.deleted ?? []), scenario],
    lastScenarioId: nextScenarioId(library) - 1,
    lastModified: stamp.text(stamp.now()),
  });
  return `deleted scenario ${scenario.scenarioId} of ${title(library)}`;
};

/** Restores the scenario that was deleted last under its id, unchanged. */
export const restoreScenario: Edit = (organization, library, random, stamp) => {
  const scenario = library.deleted?.at(-1);
  if (scenario === undefined) return editScenario(organization, library, random, stamp);
  amendLibrary(organization, library.owner, library.name, {
    scenarios: [...library.scenarios, scenario],
    deleted: library.deleted?.slice(0, -1) ?? [],
    lastModified: stamp.text(stamp.now()),
  });
  return `restored scenario ${scenario.scenarioId} of ${title(library)}`;
};

function add(organization: Organization, library: MockLibrary, scenario: MockScenario): void {
  const { owner, name } = library;
  const { lastModified } = scenario;
  amendLibrary(organization, owner, name, { scenarios: [...library.scenarios, scenario], lastModified });
}

export const title = ({ owner, name }: MockLibrary): string => `${owner}/${name}`;

import type { DateSource } from "./date-source.ts";
import {
  createFileSize,
  createLibrary,
  createPackage,
  createParent,
  createResult,
  type MockLibrary,
  type MockScenario,
} from "./library.ts";
import { createLibraryName, type Organization } from "./organization.ts";
import type { Random } from "./random.ts";
import { FINAL_NAMES } from "./vocabulary.ts";

/** Changes the organization and returns a description of the change. */
export type Edit = (organization: Organization, library: MockLibrary, random: Random, dateSource: DateSource) => string;

/** Adds a result to a parent scenario. A library without parents gets a parent instead. */
export const runParent: Edit = (organization, library, random, dateSource) => {
  const parents = library.scenarios.filter((scenario) => !scenario.isResult);
  if (parents.length === 0) return addParent(organization, library, random, dateSource);
  const parent = random.pick(parents);
  const result = createResult(random, nextScenarioId(library), parent, dateSource.now(), dateSource);
  addScenario(organization, library, result);
  return `ran scenario ${parent.scenarioId} of ${nameOfLibrary(library)}: result ${result.scenarioId}`;
};

export const addParent: Edit = (organization, library, random, dateSource) => {
  const scenarioId = nextScenarioId(library);
  addScenario(organization, library, createParent(random, scenarioId, dateSource.now(), dateSource));
  return `added scenario ${scenarioId} to ${nameOfLibrary(library)}`;
};

/** Gives a scenario another name or description, and a new date. */
export const editScenario: Edit = (organization, library, random, dateSource) => {
  if (library.scenarios.length === 0) return addParent(organization, library, random, dateSource);
  const scenario = random.pick(library.scenarios);
  const lastModified = dateSource.text(dateSource.now());
  const change = random.chance(0.5)
    ? { scenarioName: `${random.pick(FINAL_NAMES)} ${random.between(3, 99)}` }
    : { description: `Edited, revision ${random.below(1_000_000)}` };
  const edited = { ...scenario, ...change, lastModified };
  const scenarios = library.scenarios.map((each) => (each === scenario ? edited : each));
  organization.put({ ...library, scenarios, lastModified });
  return `edited scenario ${scenario.scenarioId} of ${nameOfLibrary(library)}`;
};

/** Deletes a scenario. Its results stay, as they do in the service when a parent is deleted. */
export const deleteScenario: Edit = (organization, library, random, dateSource) => {
  if (library.scenarios.length === 0) return addParent(organization, library, random, dateSource);
  const scenario = random.pick(library.scenarios);
  organization.put({
    ...library,
    scenarios: library.scenarios.filter((each) => each !== scenario),
    deleted: [...(library.deleted ?? []), scenario],
    lastModified: dateSource.text(dateSource.now()),
  });
  return `deleted scenario ${scenario.scenarioId} of ${nameOfLibrary(library)}`;
};

/** Adds a library of the same owner with one to six scenarios. Its date is the current time. */
export function addLibrary(
  organization: Organization,
  { owner }: Pick<MockLibrary, "owner">,
  random: Random,
  dateSource: DateSource,
): string {
  const name = createLibraryName(organization, owner, random);
  const library = createLibrary(random, owner, name, random.between(1, 6), dateSource.now(), dateSource);
  organization.put(library);
  return `added ${nameOfLibrary(library)} with ${library.scenarios.length} scenarios`;
}

export const removeLibrary: Edit = (organization, library) => {
  organization.remove(library.owner, library.name);
  organization.removed.push(library);
  return `removed ${nameOfLibrary(library)}`;
};

/** Restores the library that was removed last, unchanged, including its date. */
export const restoreLibrary: Edit = (organization, library, random, dateSource) => {
  const removed = organization.removed.pop();
  if (removed === undefined) return editMetadata(organization, library, random, dateSource);
  if (organization.get(removed.owner, removed.name) !== undefined) return `${nameOfLibrary(removed)} was there already`;
  organization.put(removed);
  return `restored ${nameOfLibrary(removed)}`;
};

export const editMetadata: Edit = (organization, library, random, dateSource) => {
  organization.put({
    ...library,
    ...createPackage(random),
    fileSize: createFileSize(random),
    description: `Edited, revision ${random.below(1_000_000)}`,
    lastModified: dateSource.text(dateSource.now()),
  });
  return `edited the metadata of ${nameOfLibrary(library)}`;
};

/** The next id of the library's sequence. */
export const nextScenarioId = ({ scenarios, deleted = [] }: MockLibrary): number =>
  1 + [...scenarios, ...deleted].reduce((last, { scenarioId }) => Math.max(last, scenarioId), 0);

function addScenario(organization: Organization, library: MockLibrary, scenario: MockScenario): void {
  organization.put({
    ...library,
    scenarios: [...library.scenarios, scenario],
    lastModified: scenario.lastModified,
  });
}

export const nameOfLibrary = ({ owner, name }: MockLibrary): string => `${owner}/${name}`;

/** The edits of `simcat mock`, each as often as its share: people mostly run scenarios. */
const SHARES: readonly Edit[] = [
  ...[runParent, runParent, runParent, runParent, addParent, editScenario, editScenario, deleteScenario, editMetadata],
  ...[addLibrary, removeLibrary, restoreLibrary],
];

/** Makes one random edit to a random library. An empty organization gets a library instead. */
export function editRandomly(organization: Organization, random: Random, dateSource: DateSource): void {
  if (organization.size === 0) addLibrary(organization, { owner: "example.user" }, random, dateSource);
  else random.pick(SHARES)(organization, random.pick(organization.libraries()), random, dateSource);
}

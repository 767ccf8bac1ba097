import {
  createFileSize,
  createFinalName,
  createLibraryName,
  createPackage,
  createScenarioName,
} from "./create-fields.ts";
import { createLibrary, createParent, createResult } from "./create-library.ts";
import type { DateSource } from "./date-source.ts";
import type { Random } from "./random.ts";
import type { MockLibrary, MockScenario, Organization } from "./types.ts";

/**
 * Replaces a library by a copy with these changes, and returns the copy.
 * @throws if there is no such library
 */
export function changeLibrary(
  organization: Organization,
  owner: string,
  name: string,
  change: Partial<MockLibrary>,
): MockLibrary {
  const library = organization.get(owner, name);
  if (library === undefined) throw new Error(`the organization has no library ${owner}/${name}`);
  const changed = { ...library, ...change };
  if (changed.owner !== owner || changed.name !== name) organization.remove(owner, name);
  organization.put(changed);
  return changed;
}

/** A copy of the library's scenarios with one of them changed, or without it if `change` is null. */
export function changeScenario(
  library: MockLibrary,
  scenarioId: number,
  change: Partial<MockScenario> | null,
): MockScenario[] {
  return library.scenarios.flatMap((scenario) => {
    if (scenario.scenarioId !== scenarioId) return [scenario];
    return change === null ? [] : [{ ...scenario, ...change }];
  });
}

/** The next id of the library's sequence. The ids of deleted scenarios are not used again. */
export function nextScenarioId(library: MockLibrary): number {
  let last = library.lastScenarioId ?? 0;
  for (const { scenarioId } of library.scenarios) last = Math.max(last, scenarioId);
  return last + 1;
}

/** Changes the organization and returns a description of the change. */
export type Edit = (organization: Organization, library: MockLibrary, random: Random, dateSource: DateSource) => string;

/** Adds a result to a parent scenario. A library without parents gets a parent instead. */
export const runParent: Edit = (organization, library, random, dateSource) => {
  const parents = library.scenarios.filter((scenario) => !scenario.isResult);
  if (parents.length === 0) return addParent(organization, library, random, dateSource);
  const parent = random.pick(parents);
  const result = createResult(random, nextScenarioId(library), parent, dateSource.now(), dateSource);
  addScenario(organization, library, result);
  return `ran scenario ${parent.scenarioId} of ${formatKey(library)}: result ${result.scenarioId}`;
};

export const addParent: Edit = (organization, library, random, dateSource) => {
  const parent = createParent(
    random,
    nextScenarioId(library),
    createScenarioName(random),
    dateSource.now(),
    dateSource,
  );
  addScenario(organization, library, parent);
  return `added scenario ${parent.scenarioId} to ${formatKey(library)}`;
};

/** Gives a scenario another name or description, and a new date. */
export const editScenario: Edit = (organization, library, random, dateSource) => {
  if (library.scenarios.length === 0) return addParent(organization, library, random, dateSource);
  const scenario = random.pick(library.scenarios);
  const lastModified = dateSource.text(dateSource.now());
  const change = random.chance(0.5)
    ? { scenarioName: `${createFinalName(random)} ${random.between(3, 99)}` }
    : { description: `Edited, revision ${random.below(1_000_000)}` };
  const scenarios = changeScenario(library, scenario.scenarioId, { ...change, lastModified });
  changeLibrary(organization, library.owner, library.name, { scenarios, lastModified });
  return `edited scenario ${scenario.scenarioId} of ${formatKey(library)}`;
};

/** Deletes a scenario. Its results stay, as they do in the service when a parent is deleted. */
export const deleteScenario: Edit = (organization, library, random, dateSource) => {
  if (library.scenarios.length === 0) return addParent(organization, library, random, dateSource);
  const scenario = random.pick(library.scenarios);
  changeLibrary(organization, library.owner, library.name, {
    scenarios: changeScenario(library, scenario.scenarioId, null),
    deleted: [...(library.deleted ?? []), scenario],
    lastScenarioId: nextScenarioId(library) - 1,
    lastModified: dateSource.text(dateSource.now()),
  });
  return `deleted scenario ${scenario.scenarioId} of ${formatKey(library)}`;
};

/** Restores the scenario that was deleted last, unchanged and under its old id. */
export const restoreScenario: Edit = (organization, library, random, dateSource) => {
  const scenario = library.deleted?.at(-1);
  if (scenario === undefined) return editScenario(organization, library, random, dateSource);
  changeLibrary(organization, library.owner, library.name, {
    scenarios: [...library.scenarios, scenario],
    deleted: library.deleted?.slice(0, -1) ?? [],
    lastModified: dateSource.text(dateSource.now()),
  });
  return `restored scenario ${scenario.scenarioId} of ${formatKey(library)}`;
};

function addScenario(organization: Organization, library: MockLibrary, scenario: MockScenario): void {
  const scenarios = [...library.scenarios, scenario];
  changeLibrary(organization, library.owner, library.name, { scenarios, lastModified: scenario.lastModified });
}

const formatKey = ({ owner, name }: MockLibrary): string => `${owner}/${name}`;

/** Adds a new library of the same owner. */
export const addLibrary: Edit = (organization, { owner }, random, dateSource) =>
  uploadLibrary(organization, owner, random, dateSource);

/** Adds a library with one to six scenarios. Its date is the current time. */
export function uploadLibrary(
  organization: Organization,
  owner: string,
  random: Random,
  dateSource: DateSource,
): string {
  const name = freeName(organization, owner, random);
  const library = createLibrary(random, { owner, name }, random.between(1, 6), dateSource.now(), dateSource);
  organization.put(library);
  return `added ${formatKey(library)} with ${library.scenarios.length} scenarios`;
}

export const removeLibrary: Edit = (organization, library) => {
  organization.remove(library.owner, library.name);
  organization.removed.push(library);
  return `removed ${formatKey(library)}`;
};

/** Restores the library that was removed last, unchanged, including its date. */
export const restoreLibrary: Edit = (organization, library, random, dateSource) => {
  const removed = organization.removed.pop();
  if (removed === undefined) return editMetadata(organization, library, random, dateSource);
  if (organization.get(removed.owner, removed.name) !== undefined) return `${formatKey(removed)} was there already`;
  organization.put(removed);
  return `restored ${formatKey(removed)}`;
};

/** Gives the library another name and a new date. Its content stays the same. */
export const renameLibrary: Edit = (organization, library, random, dateSource) => {
  const name = freeName(organization, library.owner, random);
  changeLibrary(organization, library.owner, library.name, { name, lastModified: dateSource.text(dateSource.now()) });
  return `renamed ${formatKey(library)} to ${name}`;
};

/** Gives the library another owner. Its content and its date stay the same. */
export const moveLibrary: Edit = (organization, library, random) => {
  const others = organization.libraries().map((other) => other.owner);
  const owner = random.pick([...others.filter((other) => other !== library.owner), `heir-of-${library.owner}`]);
  if (organization.get(owner, library.name) !== undefined) return `${owner}/${library.name} was there already`;
  changeLibrary(organization, library.owner, library.name, { owner, libraryOwner: owner });
  return `moved ${formatKey(library)} to ${owner}`;
};

export const editMetadata: Edit = (organization, library, random, dateSource) => {
  changeLibrary(organization, library.owner, library.name, {
    ...createPackage(random),
    fileSize: createFileSize(random),
    description: `Edited, revision ${random.below(1_000_000)}`,
    lastModified: dateSource.text(dateSource.now()),
  });
  return `edited the metadata of ${formatKey(library)}`;
};

/** Changes content but not the library's date: only a full read finds this change. */
export const editSilently: Edit = (organization, library, random) => {
  const revision = `Edited in silence, revision ${random.below(1_000_000)}`;
  const scenario = random.pick([...library.scenarios, null]);
  const change = scenario
    ? { scenarios: changeScenario(library, scenario.scenarioId, { description: revision }) }
    : { description: revision };
  changeLibrary(organization, library.owner, library.name, change);
  return `changed ${formatKey(library)} and no date`;
};

/** Edits a scenario under a date that is two minutes to ten weeks in the past. */
export const uploadBackdated: Edit = (organization, library, random, dateSource) => {
  const past = new Date(dateSource.now().getTime() - random.between(2, 100_000) * 60_000);
  return `backdated: ${editScenario(organization, library, random, { ...dateSource, now: () => past })}`;
};

/** Makes two edits under one date: a read between them seems to be up to date. */
export const editTwice: Edit = (organization, library, random, dateSource) => {
  const now = dateSource.now();
  const frozen = { ...dateSource, now: () => now };
  const first = editMetadata(organization, library, random, frozen);
  const edited = organization.get(library.owner, library.name) ?? library;
  return `${first}, then ${editScenario(organization, edited, random, frozen)}`;
};

function freeName(organization: Organization, owner: string, random: Random): string {
  const base = createLibraryName(random);
  let name = base;
  for (let number = 2; organization.get(owner, name) !== undefined; number++) name = `${base} (${number})`;
  return name;
}

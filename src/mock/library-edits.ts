import { amendLibrary, amendScenario } from "./amend.ts";
import { createLibrary } from "./create-library.ts";
import { createLibraryName } from "./names.ts";
import type { Organization } from "./nouns.ts";
import { createFileSize, createPackage } from "./prose.ts";
import type { Random } from "./random.ts";
import { type Edit, editScenario, title } from "./scenario-edits.ts";
import type { Stamp } from "./stamp.ts";

/** A new library of the same owner. */
export const addLibrary: Edit = (organization, { owner }, random, stamp) =>
  uploadLibrary(organization, owner, random, stamp);

/** A new library with a few scenarios, its date being now. */
export function uploadLibrary(organization: Organization, owner: string, random: Random, stamp: Stamp): string {
  const name = freeName(organization, owner, random);
  const library = createLibrary(random, { owner, name }, random.between(1, 6), stamp.now(), stamp);
  organization.put(library);
  return `added ${title(library)} with ${library.scenarios.length} scenarios`;
}

export const removeLibrary: Edit = (organization, library) => {
  organization.remove(library.owner, library.name);
  organization.removed.push(library);
  return `removed ${title(library)}`;
};

/** Restores the library that was removed last, unchanged, including its date. */
export const restoreLibrary: Edit = (organization, library, random, stamp) => {
  const removed = organization.removed.pop();
  if (removed === undefined) return editMetadata(organization, library, random, stamp);
  if (organization.get(removed.owner, removed.name) !== undefined) return `${title(removed)} was there already`;
  organization.put(removed);
  return `restored ${title(removed)}`;
};

/** The same content under another name. */
export const renameLibrary: Edit = (organization, library, random, stamp) => {
  const name = freeName(organization, library.owner, random);
  amendLibrary(organization, library.owner, library.name, { name, lastModified: stamp.text(stamp.now()) });
  return `renamed ${title(library)} to ${name}`;
};

/** The same content under another owner, with no new date. */
export const moveLibrary: Edit = (organization, library, random) => {
  const others = organization.libraries().map((other) => other.owner);
  const owner = random.pick([...others.filter((other) => other !== library.owner), `heir-of-${library.owner}`]);
  if (organization.get(owner, library.name) !== undefined) return `${owner}/${library.name} was there already`;
  amendLibrary(organization, library.owner, library.name, { owner, libraryOwner: owner });
  return `moved ${title(library)} to ${owner}`;
};

export const editMetadata: Edit = (organization, library, random, stamp) => {
  amendLibrary(organization, library.owner, library.name, {
    ...createPackage(random),
    fileSize: createFileSize(random),
    description: `Edited, revision ${random.below(1_000_000)}`,
    lastModified: stamp.text(stamp.now()),
  });
  return `edited the metadata of ${title(library)}`;
};

/** Content that changes while the library's date stays: only a full read finds it. */
export const editSilently: Edit = (organization, library, random) => {
  const revision = `Edited in silence, revision ${random.below(1_000_000)}`;
  const scenario = random.pick([...library.scenarios, null]);
  const change = scenario
    ? { scenarios: amendScenario(library, scenario.scenarioId, { description: revision }) }
    : { description: revision };
  amendLibrary(organization, library.owner, library.name, change);
  return `changed ${title(library)} and no date`;
};

/** Another file, uploaded with a date minutes to months in the past. */
export const uploadBackdated: Edit = (organization, library, random, stamp) => {
  const at = new Date(stamp.now().getTime() - random.between(2, 100_000) * 60_000);
  return `backdated: ${editScenario(organization, library, random, { ...stamp, now: () => at })}`;
};

/** Two edits under one date: a read between them looks current. */
export const editTwice: Edit = (organization, library, random, stamp) => {
  const at = stamp.now();
  const frozen = { ...stamp, now: () => at };
  const first = editMetadata(organization, library, random, frozen);
  const between = organization.get(library.owner, library.name) ?? library;
  return `${first}, then ${editScenario(organization, between, random, frozen)}`;
};

function freeName(organization: Organization, owner: string, random: Random): string {
  const wanted = createLibraryName(random);
  let name = wanted;
  for (let number = 2; organization.get(owner, name) !== undefined; number++) name = `${wanted} (${number})`;
  return name;
}

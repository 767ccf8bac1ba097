import {
  addLibrary,
  addParent,
  deleteScenario,
  type Edit,
  editMetadata,
  editScenario,
  nameOfLibrary,
  removeLibrary,
  restoreLibrary,
  runParent,
} from "../../../src/mock/edits.ts";
import { createLibraryName } from "../../../src/mock/organization.ts";
import { changeLibrary, changeScenario } from "./library.ts";

/** Restores the scenario that was deleted last, unchanged and under its old id. */
const restoreScenario: Edit = (organization, library, random, dateSource) => {
  const scenario = library.deleted?.at(-1);
  if (scenario === undefined) return editScenario(organization, library, random, dateSource);
  changeLibrary(organization, library.owner, library.name, {
    scenarios: [...library.scenarios, scenario],
    deleted: library.deleted?.slice(0, -1) ?? [],
    lastModified: dateSource.text(dateSource.now()),
  });
  return `restored scenario ${scenario.scenarioId} of ${nameOfLibrary(library)}`;
};

/** Gives the library another name and a new date. Its content stays the same. */
const renameLibrary: Edit = (organization, library, random, dateSource) => {
  const name = createLibraryName(organization, library.owner, random);
  changeLibrary(organization, library.owner, library.name, { name, lastModified: dateSource.text(dateSource.now()) });
  return `renamed ${nameOfLibrary(library)} to ${name}`;
};

/** Gives the library another owner. Its content and its date stay the same. */
const moveLibrary: Edit = (organization, library, random) => {
  const others = organization.libraries().map((other) => other.owner);
  const owner = random.pick([...others.filter((other) => other !== library.owner), `heir-of-${library.owner}`]);
  if (organization.get(owner, library.name) !== undefined) return `${owner}/${library.name} was there already`;
  changeLibrary(organization, library.owner, library.name, { owner, libraryOwner: owner });
  return `moved ${nameOfLibrary(library)} to ${owner}`;
};

/** Makes two edits under one date: a read between them seems to be up to date. */
const editTwice: Edit = (organization, library, random, dateSource) => {
  const now = dateSource.now();
  const frozen = { ...dateSource, now: () => now };
  const first = editMetadata(organization, library, random, frozen);
  const edited = organization.get(library.owner, library.name) ?? library;
  return `${first}, then ${editScenario(organization, edited, random, frozen)}`;
};

/** Edits a scenario under a date that is two minutes to ten weeks in the past. */
const uploadBackdated: Edit = (organization, library, random, dateSource) => {
  const past = new Date(dateSource.now().getTime() - random.between(2, 100_000) * 60_000);
  return `backdated: ${editScenario(organization, library, random, { ...dateSource, now: () => past })}`;
};

/** Changes content but not the library's date: only a full read finds this change. */
const editSilently: Edit = (organization, library, random) => {
  const revision = `Edited in silence, revision ${random.below(1_000_000)}`;
  const scenario = random.pick([...library.scenarios, null]);
  const change = scenario
    ? { scenarios: changeScenario(library, scenario.scenarioId, { description: revision }) }
    : { description: revision };
  changeLibrary(organization, library.owner, library.name, change);
  return `changed ${nameOfLibrary(library)} and no date`;
};

/** All edits by name, also those that `simcat mock` does not make. Only `editSilently` leaves the listing unchanged. */
export const EDITS = {
  runParent,
  addParent,
  editScenario,
  deleteScenario,
  restoreScenario,
  addLibrary,
  removeLibrary,
  restoreLibrary,
  renameLibrary,
  moveLibrary,
  editMetadata,
  editTwice,
  uploadBackdated,
  editSilently,
} as const satisfies Record<string, Edit>;

export type EditName = keyof typeof EDITS;

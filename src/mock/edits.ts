import type { DateSource } from "./date-source.ts";
import {
  addLibrary,
  addParent,
  deleteScenario,
  type Edit,
  editMetadata,
  editScenario,
  editSilently,
  editTwice,
  moveLibrary,
  removeLibrary,
  renameLibrary,
  restoreLibrary,
  restoreScenario,
  runParent,
  uploadBackdated,
  uploadLibrary,
} from "./edit-library.ts";
import type { Random } from "./random.ts";
import type { Organization } from "./types.ts";

/** All edits by name. Only `editSilently` leaves the listing unchanged. */
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

const isEditName = (name: string): name is EditName => Object.hasOwn(EDITS, name);

/** Relative frequency of each edit: people mostly run scenarios. */
const WEIGHTS: Readonly<Record<EditName, number>> = {
  runParent: 30,
  addParent: 8,
  editScenario: 14,
  deleteScenario: 8,
  restoreScenario: 3,
  addLibrary: 6,
  removeLibrary: 3,
  restoreLibrary: 3,
  renameLibrary: 3,
  moveLibrary: 2,
  editMetadata: 10,
  editTwice: 5,
  uploadBackdated: 4,
  editSilently: 1,
};

export const EDIT_NAMES: readonly EditName[] = Object.keys(WEIGHTS).filter(isEditName);

export interface EditMade {
  readonly name: EditName;
  readonly description: string;
}

/** Makes one random edit out of `names` to a random library. An empty organization gets a library instead. */
export function editRandomly(
  organization: Organization,
  random: Random,
  dateSource: DateSource,
  names: readonly EditName[] = EDIT_NAMES,
): EditMade {
  const name = pickName(random, names);
  if (organization.size === 0) {
    return { name: "addLibrary", description: uploadLibrary(organization, "example.user", random, dateSource) };
  }
  const library = random.pick(organization.libraries());
  return { name, description: EDITS[name](organization, library, random, dateSource) };
}

function pickName(random: Random, names: readonly EditName[]): EditName {
  let ticket = random.below(names.reduce((sum, name) => sum + WEIGHTS[name], 0));
  for (const name of names) {
    ticket -= WEIGHTS[name];
    if (ticket < 0) return name;
  }
  throw new RangeError("no edit to choose from");
}

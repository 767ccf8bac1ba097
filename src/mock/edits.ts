import {
  addLibrary,
  editMetadata,
  editSilently,
  editTwice,
  moveLibrary,
  removeLibrary,
  renameLibrary,
  restoreLibrary,
  uploadBackdated,
  uploadLibrary,
} from "./library-edits.ts";
import type { Organization } from "./nouns.ts";
import type { Random } from "./random.ts";
import { addParent, deleteScenario, type Edit, editScenario, restoreScenario, runParent } from "./scenario-edits.ts";
import type { Stamp } from "./stamp.ts";

/** All edits by name. `editSilently` alone leaves no trace in the listing. */
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

export const isEditName = (name: string): name is EditName => Object.hasOwn(EDITS, name);

/** How often each is chosen: people mostly run scenarios. */
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

/** One edit by chance, of a library by chance; of `names` only. */
export function editRandomly(
  organization: Organization,
  random: Random,
  stamp: Stamp,
  names: readonly EditName[] = EDIT_NAMES,
): EditMade {
  const name = pickName(random, names);
  if (organization.size === 0) {
    return { name: "addLibrary", description: uploadLibrary(organization, "example.user", random, stamp) };
  }
  const library = random.pick(organization.libraries());
  return { name, description: EDITS[name](organization, library, random, stamp) };
}

function pickName(random: Random, names: readonly EditName[]): EditName {
  let place = random.below(names.reduce((sum, name) => sum + WEIGHTS[name], 0));
  for (const name of names) {
    place -= WEIGHTS[name];
    if (place < 0) return name;
  }
  throw new RangeError("no edit to choose from");
}

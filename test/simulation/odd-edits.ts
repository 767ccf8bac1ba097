import type { DateSource } from "../../src/mock/date-source.ts";
import { nextScenarioId } from "../../src/mock/edits.ts";
import type { Organization } from "../../src/mock/organization.ts";
import type { Random } from "../../src/mock/random.ts";
import {
  changeLibrary,
  changeScenario,
  type Fields,
  type MockLibrary,
  type MockScenario,
} from "../support/mock/library.ts";

const ABSENT: Fields = {
  parentId: undefined,
  scenarioName: undefined,
  isResult: undefined,
  lastModified: undefined,
  description: undefined,
};
const NULL: Fields = { parentId: null, scenarioName: null, isResult: null, lastModified: null, description: null };
const BARE = { parentId: null, scenarioName: null, isResult: false, lastModified: null, description: null };
const TWO_TO_53 = 2n ** 53n;

type OddEdit = (organization: Organization, library: MockLibrary, random: Random, dateSource: DateSource) => string;

const title = ({ owner, name }: MockLibrary) => `${owner}/${name}`;

/** A scenario with no field except its id. */
const addBare: OddEdit = (organization, library, random, dateSource) => {
  const fields = random.pick([ABSENT, NULL]);
  const scenarioId = nextScenarioId(library);
  const scenarios = [...library.scenarios, { ...BARE, scenarioId, fields }];
  changeLibrary(organization, library.owner, library.name, {
    scenarios,
    lastModified: dateSource.text(dateSource.now()),
  });
  return `added the bare scenario ${scenarioId} to ${title(library)}`;
};

/** A scenario loses all its fields, or has them again. */
const stripScenario: OddEdit = (organization, library, random, dateSource) => {
  if (library.scenarios.length === 0) return addBare(organization, library, random, dateSource);
  const { scenarioId, fields } = random.pick(library.scenarios);
  const stripped = fields === undefined ? random.pick([ABSENT, NULL]) : {};
  const scenarios = changeScenario(library, scenarioId, { fields: stripped });
  changeLibrary(organization, library.owner, library.name, {
    scenarios,
    lastModified: dateSource.text(dateSource.now()),
  });
  return `${fields === undefined ? "stripped" : "dressed"} scenario ${scenarioId} of ${title(library)}`;
};

/** An id that a double cannot represent. The mock addresses it by its position in the library's sequence. */
const addVast: OddEdit = (organization, library, random, dateSource) => {
  const scenarioId = nextScenarioId(library);
  const id = TWO_TO_53 + 8n * BigInt(scenarioId) + 1n;
  const source = `{"scenarioId":${id},"scenarioName":"Vast ${random.below(100)}","isResult":false}`;
  const scenarios = [...library.scenarios, { ...BARE, scenarioId, source }];
  changeLibrary(organization, library.owner, library.name, {
    scenarios,
    lastModified: dateSource.text(dateSource.now()),
  });
  return `added scenario ${id} to ${title(library)}`;
};

/** Ids rotate: each scenario takes the id of the next one, as after a file was reassembled. */
const renumber: OddEdit = (organization, library, random, dateSource) => {
  const plain = library.scenarios.filter(({ source }) => source === undefined);
  if (plain.length === 0) return addBare(organization, library, random, dateSource);
  const by = random.chance(0.5) ? 0 : nextScenarioId(library);
  const ids = plain.map(({ scenarioId }) => scenarioId + by);
  const moved = plain.map((one, at): MockScenario => ({ ...one, scenarioId: ids[(at + 1) % ids.length] ?? 0 }));
  const scenarios = [...moved, ...library.scenarios.filter(({ source }) => source !== undefined)];
  changeLibrary(organization, library.owner, library.name, {
    scenarios,
    lastModified: dateSource.text(dateSource.now()),
  });
  return `renumbered ${title(library)}`;
};

/** A removed library returns under its old date with other content. */
const returnOtherwise: OddEdit = (organization, library, random, dateSource) => {
  const removed = organization.removed.pop();
  if (removed === undefined || organization.get(removed.owner, removed.name) !== undefined) {
    organization.remove(library.owner, library.name);
    organization.removed.push(library);
    return `took ${title(library)} away`;
  }
  const description = `Not as it was, revision ${random.below(1_000_000)}`;
  organization.put({ ...removed, description, scenarios: removed.scenarios.slice(1) });
  return `brought ${title(removed)} back otherwise, at ${dateSource.text(dateSource.now())}`;
};

/** Unknown fields change, without a new date. */
const addUnknown: OddEdit = (organization, library, random) => {
  const unknown = { zoneCount: random.below(1_000) };
  const change = random.pick<Partial<MockLibrary>>([
    { entryFields: unknown },
    { metadataFields: unknown },
    { scenarios: library.scenarios.map((one) => ({ ...one, fields: { ...one.fields, ...unknown } })) },
  ]);
  changeLibrary(organization, library.owner, library.name, change);
  return `unknown fields of ${title(library)}: ${Object.keys(change)}`;
};

/** Two ways to express that a scenario has no parent. */
const zeroParent: OddEdit = (organization, library, random, dateSource) => {
  const parents = library.scenarios.filter(({ parentId, source }) => !parentId && source === undefined);
  if (parents.length === 0) return addBare(organization, library, random, dateSource);
  const { scenarioId, parentId } = random.pick(parents);
  const scenarios = changeScenario(library, scenarioId, { parentId: parentId === 0 ? null : 0 });
  changeLibrary(organization, library.owner, library.name, {
    scenarios,
    lastModified: dateSource.text(dateSource.now()),
  });
  return `scenario ${scenarioId} of ${title(library)} has the parent ${parentId === 0 ? null : 0}`;
};

/** The metadata keeps only its name. */
const stripMetadata: OddEdit = (organization, library, _, dateSource) => {
  const { owner, name } = library;
  const metadataFields = {
    libraryOwner: undefined,
    lastModified: undefined,
    fileSize: undefined,
    packageName: undefined,
    packageVersion: undefined,
    description: undefined,
  };
  changeLibrary(organization, owner, name, { metadataFields, lastModified: dateSource.text(dateSource.now()) });
  return `stripped the metadata of ${title(library)}`;
};

const loseDate: OddEdit = (organization, library) => {
  changeLibrary(organization, library.owner, library.name, { lastModified: null });
  return `${title(library)} has no date any more`;
};

/** Edits that people rarely make and services sometimes do. */
export const ODD_EDITS: readonly OddEdit[] = [
  addBare,
  addBare,
  stripScenario,
  addVast,
  zeroParent,
  renumber,
  returnOtherwise,
  returnOtherwise,
  addUnknown,
  stripMetadata,
  loseDate,
];

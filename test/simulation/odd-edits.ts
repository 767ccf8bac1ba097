import { amendLibrary, amendScenario, nextScenarioId } from "../../src/mock/amend.ts";
import type { Fields, MockLibrary, MockScenario } from "../../src/mock/nouns.ts";
import type { Edit } from "../../src/mock/scenario-edits.ts";

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

const title = ({ owner, name }: MockLibrary) => `${owner}/${name}`;

/** A scenario of which nothing is known but its id. */
const addBare: Edit = (organization, library, random, stamp) => {
  const fields = random.pick([ABSENT, NULL]);
  const scenarioId = nextScenarioId(library);
  const scenarios = [...library.scenarios, { ...BARE, scenarioId, fields }];
  amendLibrary(organization, library.owner, library.name, { scenarios, lastModified: stamp.text(stamp.now()) });
  return `added the bare scenario ${scenarioId} to ${title(library)}`;
};

/** A scenario loses what was known of it, or has it again. */
const stripScenario: Edit = (organization, library, random, stamp) => {
  if (library.scenarios.length === 0) return addBare(organization, library, random, stamp);
  const { scenarioId, fields } = random.pick(library.scenarios);
  const stripped = fields === undefined ? random.pick([ABSENT, NULL]) : {};
  const scenarios = amendScenario(library, scenarioId, { fields: stripped });
  amendLibrary(organization, library.owner, library.name, { scenarios, lastModified: stamp.text(stamp.now()) });
  return `${fields === undefined ? "stripped" : "dressed"} scenario ${scenarioId} of ${title(library)}`;
};

/** An id that no double holds. To the mock it goes by its place in the library's sequence. */
const addVast: Edit = (organization, library, random, stamp) => {
  const scenarioId = nextScenarioId(library);
  const id = TWO_TO_53 + 8n * BigInt(scenarioId) + 1n;
  const source = `{"scenarioId":${id},"scenarioName":"Vast ${random.below(100)}","isResult":false}`;
  const scenarios = [...library.scenarios, { ...BARE, scenarioId, source }];
  amendLibrary(organization, library.owner, library.name, { scenarios, lastModified: stamp.text(stamp.now()) });
  return `added scenario ${id} to ${title(library)}`;
};

/** Ids go round: each scenario takes that of the next one, as after a file was put together anew. */
const renumber: Edit = (organization, library, random, stamp) => {
  const plain = library.scenarios.filter(({ source }) => source === undefined);
  if (plain.length === 0) return addBare(organization, library, random, stamp);
  const by = random.chance(0.5) ? 0 : nextScenarioId(library);
  const ids = plain.map(({ scenarioId }) => scenarioId + by);
  const moved = plain.map((one, at): MockScenario => ({ ...one, scenarioId: ids[(at + 1) % ids.length] ?? 0 }));
  const scenarios = [...moved, ...library.scenarios.filter(({ source }) => source !== undefined)];
  amendLibrary(organization, library.owner, library.name, {
    scenarios,
    lastScenarioId: 2 * nextScenarioId(library),
    lastModified: stamp.text(stamp.now()),
  });
  return `renumbered ${title(library)}`;
};

/** A library that was taken away returns under its old date, with other content. */
const returnOtherwise: Edit = (organization, library, random, stamp) => {
  const removed = organization.removed.pop();
  if (removed === undefined || organization.get(removed.owner, removed.name) !== undefined) {
    organization.remove(library.owner, library.name);
    organization.removed.push(library);
    return `took ${title(library)} away`;
  }
  const description = `Not as it was, revision ${random.below(1_000_000)}`;
  organization.put({ ...removed, description, scenarios: removed.scenarios.slice(1) });
  return `brought ${title(removed)} back otherwise, at ${stamp.text(stamp.now())}`;
};

/** Fields that nobody knows change, and no date. */
const addUnknown: Edit = (organization, library, random) => {
  const unknown = { zoneCount: random.below(1_000) };
  const change = random.pick<Partial<MockLibrary>>([
    { entryFields: unknown },
    { metadataFields: unknown },
    { scenarios: library.scenarios.map((one) => ({ ...one, fields: { ...one.fields, ...unknown } })) },
  ]);
  amendLibrary(organization, library.owner, library.name, change);
  return `unknown fields of ${title(library)}: ${Object.keys(change)}`;
};

/** Two ways to say that a scenario has no parent. */
const zeroParent: Edit = (organization, library, random, stamp) => {
  const parents = library.scenarios.filter(({ parentId, source }) => !parentId && source === undefined);
  if (parents.length === 0) return addBare(organization, library, random, stamp);
  const { scenarioId, parentId } = random.pick(parents);
  const scenarios = amendScenario(library, scenarioId, { parentId: parentId === 0 ? null : 0 });
  amendLibrary(organization, library.owner, library.name, { scenarios, lastModified: stamp.text(stamp.now()) });
  return `scenario ${scenarioId} of ${title(library)} has the parent ${parentId === 0 ? null : 0}`;
};

/** Of the metadata only the name is left. */
const stripMetadata: Edit = (organization, library, _, stamp) => {
  const { owner, name } = library;
  const metadataFields = {
    libraryOwner: undefined,
    lastModified: undefined,
    fileSize: undefined,
    packageName: undefined,
    packageVersion: undefined,
    description: undefined,
  };
  amendLibrary(organization, owner, name, { metadataFields, lastModified: stamp.text(stamp.now()) });
  return `stripped the metadata of ${title(library)}`;
};

const loseDate: Edit = (organization, library) => {
  amendLibrary(organization, library.owner, library.name, { lastModified: null });
  return `${title(library)} has no date any more`;
};

/** What people rarely do, and services now and then. */
export const ODD_EDITS: readonly Edit[] = [
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

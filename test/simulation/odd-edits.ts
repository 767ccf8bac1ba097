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

const NULL: Fields = { parentId: null, scenarioName: null, isResult: null, lastModified: null, description: null };
const ABSENT: Fields = Object.fromEntries(Object.keys(NULL).map((name) => [name, undefined]));
const BARE = { parentId: null, scenarioName: null, isResult: false, lastModified: null, description: null };
const TWO_TO_53 = 2n ** 53n;

type OddEdit = (organization: Organization, library: MockLibrary, random: Random, dateSource: DateSource) => string;

/** What changes in a library, and the changed fields; without a `lastModified`, the date is that of the edit. */
type OddChange = (library: MockLibrary, random: Random) => readonly [what: string, change: Partial<MockLibrary>];

const title = ({ owner, name }: MockLibrary) => `${owner}/${name}`;

/** A scenario with no field except its id. */
const addBare: OddChange = (library, random) => {
  const fields = random.pick([ABSENT, NULL]);
  const scenarioId = nextScenarioId(library);
  return [
    `added the bare scenario ${scenarioId}`,
    { scenarios: [...library.scenarios, { ...BARE, scenarioId, fields }] },
  ];
};

/** A scenario loses all its fields, or has them again. */
const stripScenario: OddChange = (library, random) => {
  if (library.scenarios.length === 0) return addBare(library, random);
  const { scenarioId, fields } = random.pick(library.scenarios);
  const stripped = fields === undefined ? random.pick([ABSENT, NULL]) : {};
  return [
    `stripped or dressed scenario ${scenarioId}`,
    { scenarios: changeScenario(library, scenarioId, { fields: stripped }) },
  ];
};

/** An id that a double cannot represent. The mock addresses it by its position in the library's sequence. */
const addVast: OddChange = (library, random) => {
  const scenarioId = nextScenarioId(library);
  const id = TWO_TO_53 + 8n * BigInt(scenarioId) + 1n;
  const source = `{"scenarioId":${id},"scenarioName":"Vast ${random.below(100)}","isResult":false}`;
  return [`added scenario ${id}`, { scenarios: [...library.scenarios, { ...BARE, scenarioId, source }] }];
};

/** Ids rotate: each scenario takes the id of the next one, as after a file was reassembled. */
const renumber: OddChange = (library, random) => {
  const plain = library.scenarios.filter(({ source }) => source === undefined);
  if (plain.length === 0) return addBare(library, random);
  const by = random.chance(0.5) ? 0 : nextScenarioId(library);
  const ids = plain.map(({ scenarioId }) => scenarioId + by);
  const moved = plain.map((one, at): MockScenario => ({ ...one, scenarioId: ids[(at + 1) % ids.length] ?? 0 }));
  return ["renumbered", { scenarios: [...moved, ...library.scenarios.filter(({ source }) => source !== undefined)] }];
};

/** Unknown fields change, without a new date. */
const addUnknown: OddChange = ({ scenarios, lastModified }, random) => {
  const unknown = { zoneCount: random.below(1_000) };
  const change = random.pick<Partial<MockLibrary>>([
    { entryFields: unknown },
    { metadataFields: unknown },
    { scenarios: scenarios.map((one) => ({ ...one, fields: { ...one.fields, ...unknown } })) },
  ]);
  return [`unknown fields in ${Object.keys(change)}`, { ...change, lastModified }];
};

/** Two ways to express that a scenario has no parent. */
const zeroParent: OddChange = (library, random) => {
  const parents = library.scenarios.filter(({ parentId, source }) => !parentId && source === undefined);
  if (parents.length === 0) return addBare(library, random);
  const { scenarioId, parentId: before } = random.pick(parents);
  const parentId = before === 0 ? null : 0;
  return [
    `scenario ${scenarioId} has the parent ${parentId}`,
    { scenarios: changeScenario(library, scenarioId, { parentId }) },
  ];
};

/** The metadata keeps only its name. */
const stripMetadata: OddChange = () => {
  const names = ["libraryOwner", "lastModified", "fileSize", "packageName", "packageVersion", "description"];
  return ["stripped metadata", { metadataFields: Object.fromEntries(names.map((name) => [name, undefined])) }];
};

const loseDate: OddChange = () => ["no date any more", { lastModified: null }];

const changing =
  (draw: OddChange): OddEdit =>
  (organization, library, random, dateSource) => {
    const [what, change] = draw(library, random);
    const lastModified = dateSource.text(dateSource.now());
    changeLibrary(organization, library.owner, library.name, { lastModified, ...change });
    return `${what}: ${title(library)}`;
  };

/** A removed library returns under its old date with other content. */
const returnOtherwise: OddEdit = (organization, library, random) => {
  const removed = organization.removed.pop();
  if (removed === undefined || organization.get(removed.owner, removed.name) !== undefined) {
    organization.remove(library.owner, library.name);
    organization.removed.push(library);
    return `took ${title(library)} away`;
  }
  const description = `Not as it was, revision ${random.below(1_000_000)}`;
  organization.put({ ...removed, description, scenarios: removed.scenarios.slice(1) });
  return `brought ${title(removed)} back otherwise`;
};

/** Edits that people rarely make and services sometimes do. */
export const ODD_EDITS: readonly OddEdit[] = [
  ...[addBare, addBare, stripScenario, addVast, zeroParent, renumber].map(changing),
  returnOtherwise,
  returnOtherwise,
  ...[addUnknown, stripMetadata, loseDate].map(changing),
];

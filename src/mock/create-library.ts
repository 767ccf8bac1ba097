import {
  createDescription,
  createFileSize,
  createFinalName,
  createPackage,
  createScenarioName,
} from "./create-fields.ts";
import type { DateSource } from "./date-source.ts";
import { createRandom, type Random } from "./random.ts";
import type { MockLibrary, MockScenario } from "./types.ts";

const MINUTE_MS = 60_000;

/** The age of a library's oldest scenario, compared with the library's date, is at most this. */
export const MAX_LIBRARY_WORK_MINUTES = 180 * 24 * 60;

/** The organization's own name: some libraries belong to it rather than to the user who uploaded them. */
const ORGANIZATION = "Boreal Futures Lab";

/** A library whose scenarios are created on first use, because most libraries of a large organization are never read. */
export function createLibrary(
  random: Random,
  key: { readonly owner: string; readonly name: string },
  scenarioCount: number,
  modifiedAt: Date,
  dateSource: DateSource,
): MockLibrary {
  const seed = random.below(0x1_0000_0000);
  let scenarios: readonly MockScenario[] | null = null;
  return {
    owner: key.owner,
    name: key.name,
    libraryOwner: random.chance(0.12) ? ORGANIZATION : key.owner,
    lastModified: dateSource.text(modifiedAt),
    fileSize: createFileSize(random),
    ...createPackage(random),
    description: createDescription(random),
    get scenarios() {
      scenarios ??= createScenarios(createRandom(seed), scenarioCount, modifiedAt, dateSource);
      return scenarios;
    },
  };
}

/** `count` scenarios in the order of their dates. The last one has the library's own date. */
export function createScenarios(random: Random, count: number, lastAt: Date, dateSource: DateSource): MockScenario[] {
  const scenarios: MockScenario[] = [];
  const parents: MockScenario[] = [];
  const workMinutes = random.between(60, MAX_LIBRARY_WORK_MINUTES);
  let scenarioId = 0;
  for (let left = count - 1; left >= 0; left--) {
    scenarioId += random.chance(0.15) ? random.between(2, 5) : 1;
    const minutesBefore = Math.floor((workMinutes * Math.max(0, left - random.next())) / count);
    const modifiedAt = new Date(lastAt.getTime() - minutesBefore * MINUTE_MS);
    const isParent = parents.length === 0 || random.chance(0.35);
    const scenario = isParent
      ? createParent(random, scenarioId, createParentName(random, scenarios), modifiedAt, dateSource)
      : createResult(random, scenarioId, random.pick(parents), modifiedAt, dateSource);
    if (isParent) parents.push(scenario);
    scenarios.push(scenario);
  }
  return scenarios;
}

/** Sometimes the name of an existing scenario: a copy keeps its name, so the names of its results contain that one. */
function createParentName(random: Random, scenarios: readonly MockScenario[]): string {
  const copied = scenarios.length > 3 && random.chance(0.04) ? random.pick(scenarios).scenarioName : null;
  return copied ?? createScenarioName(random);
}

export function createParent(
  random: Random,
  scenarioId: number,
  scenarioName: string,
  modifiedAt: Date,
  dateSource: DateSource,
): MockScenario {
  return {
    scenarioId,
    parentId: null,
    scenarioName,
    isResult: false,
    lastModified: dateSource.text(modifiedAt),
    description: createDescription(random),
  };
}

export function createResult(
  random: Random,
  scenarioId: number,
  parent: MockScenario,
  modifiedAt: Date,
  dateSource: DateSource,
): MockScenario {
  return {
    scenarioId,
    parentId: parent.scenarioId,
    scenarioName: random.chance(0.05) ? createFinalName(random) : createResultName(parent, modifiedAt, dateSource),
    isResult: true,
    lastModified: dateSource.text(modifiedAt),
    description: random.chance(0.9) ? parent.description : null,
  };
}

/** The name that the service gives to a new result. */
function createResultName(parent: MockScenario, runAt: Date, dateSource: DateSource): string {
  return `${parent.scenarioName} ([${parent.scenarioId}] @ ${dateSource.runText(runAt)})`;
}

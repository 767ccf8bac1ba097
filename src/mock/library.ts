import type { DateSource } from "./date-source.ts";
import { createRandom, type Random } from "./random.ts";
import { FINAL_NAMES, PACKAGES, SCENARIOS, SENTENCES, THEMES } from "./vocabulary.ts";

/** A scenario as the service sends it (specification 2.3). */
export interface MockScenario {
  readonly scenarioId: number;
  readonly parentId: number | null;
  readonly scenarioName: string | null;
  readonly isResult: boolean;
  readonly lastModified: string | null;
  readonly description: string | null;
}

/** A library as the service has it (specification 2.1, 2.2). An edit replaces the object. */
export interface MockLibrary {
  /** The decoded path segment, as is `name`. */
  readonly owner: string;
  readonly name: string;
  /** The owner in the metadata: a user or an organization. */
  readonly libraryOwner: string;
  /** The date in the list and in the metadata. */
  readonly lastModified: string | null;
  readonly fileSize: string | null;
  readonly packageName: string | null;
  readonly packageVersion: string | null;
  readonly description: string | null;
  readonly scenarios: readonly MockScenario[];
  /** Scenarios that an edit deleted. Their ids are not used again. */
  readonly deleted?: readonly MockScenario[];
}

export const MOCK_MINUTE_MS = 60_000;
const KIB = 1024;

/** The age of a library's oldest scenario, compared with the library's date, is at most this. */
export const MAX_LIBRARY_WORK_MINUTES = 180 * 24 * 60;

/** The organization's own name: some libraries belong to it rather than to the user who uploaded them. */
const ORGANIZATION = "Boreal Futures Lab";

/** A library whose scenarios are created on first use, because most libraries of a large organization are never read. */
export function createLibrary(
  random: Random,
  owner: string,
  name: string,
  scenarioCount: number,
  modifiedAt: Date,
  dateSource: DateSource,
): MockLibrary {
  const seed = random.below(0x1_0000_0000);
  let scenarios: readonly MockScenario[] | null = null;
  return {
    owner,
    name,
    libraryOwner: random.chance(0.12) ? ORGANIZATION : owner,
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
    const modifiedAt = new Date(lastAt.getTime() - minutesBefore * MOCK_MINUTE_MS);
    const isParent = parents.length === 0 || random.chance(0.35);
    const scenario = isParent
      ? createParent(random, scenarioId, modifiedAt, dateSource)
      : createResult(random, scenarioId, random.pick(parents), modifiedAt, dateSource);
    if (isParent) parents.push(scenario);
    scenarios.push(scenario);
  }
  return scenarios;
}

function createScenarioName(random: Random): string {
  const kind = random.below(10);
  if (kind < 6) return random.pick(SCENARIOS);
  if (kind < 8) return `[${random.between(1, 9)}] ${random.pick(SCENARIOS)}`;
  return `${random.pick(THEMES)} - ${random.between(5, 60)} timesteps - ${random.between(2, 20)} iterations`;
}

export function createParent(random: Random, id: number, at: Date, dateSource: DateSource): MockScenario {
  return {
    scenarioId: id,
    parentId: null,
    scenarioName: createScenarioName(random),
    isResult: false,
    lastModified: dateSource.text(at),
    description: createDescription(random),
  };
}

/** A result. The service names it after its parent, and people rename a few to find them again. */
export function createResult(
  random: Random,
  scenarioId: number,
  parent: MockScenario,
  at: Date,
  dateSource: DateSource,
): MockScenario {
  const givenName = `${parent.scenarioName} ([${parent.scenarioId}] @ ${dateSource.runText(at)})`;
  return {
    scenarioId,
    parentId: parent.scenarioId,
    scenarioName: random.chance(0.05) ? random.pick(FINAL_NAMES) : givenName,
    isResult: true,
    lastModified: dateSource.text(at),
    description: random.chance(0.9) ? parent.description : null,
  };
}

/** Two in five are null; most others have one or two sentences, a few 15 to 50 paragraphs. */
function createDescription(random: Random): string | null {
  if (random.chance(0.4)) return null;
  const isShort = random.chance(0.93);
  const length = isShort ? random.between(1, 2) : random.between(15, 50);
  return Array.from({ length }, () => random.pick(SENTENCES)).join(isShort ? " " : "\n\n");
}

/** One of the three known formats: rounded KB, rounded MB, or rounded KB with two spaces and the exact bytes. */
export function createFileSize(random: Random): string {
  const bytes = random.between(60, random.chance(0.2) ? 900_000 : 4_000) * KIB + random.below(KIB);
  if (random.chance(0.3)) return `${Math.round(bytes / KIB)} KB  (${bytes.toLocaleString("en-US")} B)`;
  return bytes < KIB * KIB ? `${Math.round(bytes / KIB)} KB` : `${Math.round(bytes / KIB / KIB)} MB`;
}

/** A package and its version: most libraries have a recent version, a few an old one. */
export function createPackage(random: Random): Pick<MockLibrary, "packageName" | "packageVersion"> {
  const [packageName, versions] = random.pick(PACKAGES);
  const lag = Math.floor(versions.length * random.next() * random.next());
  return { packageName, packageVersion: versions[versions.length - 1 - lag] ?? versions[0] };
}

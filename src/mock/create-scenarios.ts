import { createNewName, createScenarioName } from "./names.ts";
import type { MockScenario } from "./nouns.ts";
import { createDescription } from "./prose.ts";
import type { Random } from "./random.ts";
import type { Stamp } from "./stamp.ts";

const MINUTE = 60_000;
/** The oldest scenario of a library is at most this much older than the library's date. */
export const LONGEST_WORK_MINUTES = 180 * 24 * 60;

/** The name that the service gives to a new result. */
function nameResult(parent: MockScenario, at: Date, stamp: Stamp): string {
  return `${parent.scenarioName} ([${parent.scenarioId}] @ ${stamp.runText(at)})`;
}

/** Scenarios in the order in which they were made; the last one carries the library's own date. */
export function createScenarios(random: Random, count: number, lastAt: Date, stamp: Stamp): MockScenario[] {
  const scenarios: MockScenario[] = [];
  const parents: MockScenario[] = [];
  const span = random.between(60, LONGEST_WORK_MINUTES);
  let scenarioId = 0;
  for (let left = count - 1; left >= 0; left--) {
    scenarioId += random.chance(0.15) ? random.between(2, 5) : 1;
    const minutesBefore = Math.floor((span * Math.max(0, left - random.next())) / count);
    const at = new Date(lastAt.getTime() - minutesBefore * MINUTE);
    const isParent = parents.length === 0 || random.chance(0.35);
    const scenario = isParent
      ? createParent(random, scenarioId, nameParent(random, scenarios), at, stamp)
      : createResult(random, scenarioId, random.pick(parents), at, stamp);
    if (isParent) parents.push(scenario);
    scenarios.push(scenario);
  }
  return scenarios;
}

/** A copy of a result keeps its name, and results of it are named after that: names nest. */
function nameParent(random: Random, scenarios: readonly MockScenario[]): string {
  const copied = scenarios.length > 3 && random.chance(0.04) ? random.pick(scenarios).scenarioName : null;
  return copied ?? createScenarioName(random);
}

export function createParent(
  random: Random,
  scenarioId: number,
  scenarioName: string,
  at: Date,
  stamp: Stamp,
): MockScenario {
  const description = createDescription(random);
  return { scenarioId, parentId: null, scenarioName, isResult: false, lastModified: stamp.text(at), description };
}

export function createResult(
  random: Random,
  scenarioId: number,
  parent: MockScenario,
  at: Date,
  stamp: Stamp,
): MockScenario {
  return {
    scenarioId,
    parentId: parent.scenarioId,
    scenarioName: random.chance(0.05) ? createNewName(random) : nameResult(parent, at, stamp),
    isResult: true,
    lastModified: stamp.text(at),
    description: random.chance(0.9) ? parent.description : null,
  };
}

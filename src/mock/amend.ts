import type { MockLibrary, MockScenario, Organization } from "./nouns.ts";

/** Replaces a library by a changed copy. Throws if there is none. */
export function amendLibrary(
  organization: Organization,
  owner: string,
  name: string,
  change: Partial<MockLibrary>,
): MockLibrary {
  const library = organization.get(owner, name);
  if (library === undefined) throw new Error(`the organization has no library ${owner}/${name}`);
  const amended = { ...library, ...change };
  if (amended.owner !== owner || amended.name !== name) organization.remove(owner, name);
  organization.put(amended);
  return amended;
}

/** The scenarios with one of them changed, or without it. */
export function amendScenario(
  library: MockLibrary,
  scenarioId: number,
  change: Partial<MockScenario> | null,
): MockScenario[] {
  const amend = (scenario: MockScenario): MockScenario[] => {
    if (scenario.scenarioId !== scenarioId) return [scenario];
    return change === null ? [] : [{ ...scenario, ...change }];
  };
  return library.scenarios.flatMap(amend);
}

/** The id after the last one that the library's sequence gave out: ids of deleted scenarios do not return. */
export function nextScenarioId(library: MockLibrary): number {
  let last = library.lastScenarioId ?? 0;
  for (const { scenarioId } of library.scenarios) last = Math.max(last, scenarioId);
  return last + 1;
}

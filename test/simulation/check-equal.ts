import { metadataSource, scenarioSource } from "../support/mock/answer.ts";
import type { MockLibrary } from "../support/mock/library.ts";
import { canonical, itemsOf } from "./answers.ts";
import { copyText } from "./copies.ts";
import { keyOf, look, type Seen } from "./reader.ts";
import type { Simulation } from "./simulation.ts";

/** The metadata of a library of the service, as it is in a copy. */
export const metadataOf = (library: MockLibrary) => canonical(JSON.parse(metadataSource(library)));

/** The scenarios of a library of the service, as they are in a copy. */
export const scenariosOf = (library: MockLibrary) => itemsOf(library.scenarios.map(scenarioSource));

/** The difference between a library's row and the service; null if there is none. */
export function difference(library: MockLibrary, seen: Seen | undefined): string | null {
  if (seen === undefined) return "is not stored";
  if (!seen.live) return "is marked removed";
  if (seen.lastModified !== library.lastModified)
    return `has the date ${seen.lastModified}, not ${library.lastModified}`;
  const found = copyText(seen.copy);
  const expected = copyText({ metadata: metadataOf(library), scenarios: scenariosOf(library) });
  return found === expected ? null : `differs:\n    found    ${found}\n    expected ${expected}`;
}

/** Checks that tables and service are equal in the selected libraries. */
export async function checkEqual(
  simulation: Simulation,
  counts: (key: string) => boolean,
  what: string,
): Promise<string[]> {
  const sight = await look(simulation.control);
  const wrong: string[] = [];
  const there = new Set<string>();
  for (const library of simulation.service.organization.libraries()) {
    const key = keyOf(library);
    there.add(key);
    if (!counts(key)) continue;
    const found = difference(library, sight.get(key));
    if (found !== null) wrong.push(`equal in the end (${what}): ${key} ${found}`);
  }
  for (const [key, seen] of sight) {
    if (seen.live && !there.has(key))
      wrong.push(`equal in the end (${what}): ${key} is live and the service does not have it`);
  }
  return wrong;
}

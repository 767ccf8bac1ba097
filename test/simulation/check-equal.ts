import { metadataSource, scenarioSource } from "../support/mock/answer.ts";
import type { MockLibrary } from "../support/mock/library.ts";
import { canonical, itemsOf } from "./answers.ts";
import { copyText } from "./copies.ts";
import { keyOf, look, type Seen } from "./reader.ts";
import type { Simulation } from "./simulation.ts";

/** The service's current content, as the text of a copy. */
function contentText(library: MockLibrary): string {
  const scenarios = itemsOf(library.scenarios.map(scenarioSource));
  return copyText({ metadata: canonical(JSON.parse(metadataSource(library))), scenarios });
}

/** The difference between a library's row and the service; null if there is none. */
export function difference(library: MockLibrary, seen: Seen | undefined): string | null {
  if (seen === undefined) return "is not stored";
  if (!seen.live) return "is marked removed";
  if (seen.lastModified !== library.lastModified)
    return `has the date ${seen.lastModified}, not ${library.lastModified}`;
  const [found, expected] = [copyText(seen.copy), contentText(library)];
  return found === expected ? null : `differs:\n    found    ${found}\n    expected ${expected}`;
}

/** Checks that tables and service are equal in the selected libraries. */
export async function checkEqual(
  simulation: Simulation,
  counts: (key: string) => boolean,
  what: string,
): Promise<string[]> {
  const sight = await look(simulation.server.control);
  const wrong: string[] = [];
  const there = new Set<string>();
  for (const library of simulation.service.organization.libraries()) {
    const key = keyOf(library.owner, library.name);
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

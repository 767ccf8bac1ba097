import type { Fields, JsonObject } from "./specification.ts";

export const MOCK_ADVICE =
  "these are the placeholder words of the documentation's mock, not values: SIMCAT_BASE_URL points at a mock, and nothing was stored";

/** Whether the object has known fields, and each of them holds its type's name, as the documented mock answers. */
export function isPlaceholder(object: JsonObject, fields: Fields): boolean {
  let found = false;
  for (const name in fields) {
    if (!Object.hasOwn(object, name)) continue;
    if (object[name] !== fields[name]) return false;
    found = true;
  }
  return found;
}

const WORDS =
  /"(?:libraryName|uploadUser|lastModified|scenarioName|description)"\s*:\s*"string"|"(?:scenarioId|parentId)"\s*:\s*"integer"|"isResult"\s*:\s*"boolean"/;

/** The same suspicion about text that may be cut short, such as the one object that stands where a list belongs. */
export function showsPlaceholders(text: string): boolean {
  return WORDS.test(text);
}

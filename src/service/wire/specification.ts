/** The fields of each resource, with the type that the specification gives them (2.1 to 2.3). */
export const LIST_FIELDS = { libraryName: "string", uploadUser: "string", lastModified: "string" } as const;

export const METADATA_FIELDS = {
  libraryName: "string",
  libraryOwner: "string",
  lastModified: "string",
  fileSize: "string",
  packageName: "string",
  packageVersion: "string",
  description: "string",
} as const;

export const SCENARIO_FIELDS = {
  scenarioId: "integer",
  parentId: "integer",
  scenarioName: "string",
  isResult: "boolean",
  lastModified: "string",
  description: "string",
} as const;

export type FieldType = "string" | "integer" | "boolean";
export type Fields = Readonly<Record<string, FieldType>>;
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function hasAnyField(object: JsonObject, fields: Fields): boolean {
  for (const name in fields) if (Object.hasOwn(object, name)) return true;
  return false;
}

export const MOCK_ADVICE =
  "these are the placeholder words of the documentation's mock, not values: SIMCAT_BASE_URL points at a mock, and nothing was stored";

/** True if each known field of the object contains the name of its type, as in the documentation's mock. */
export function isPlaceholder(object: JsonObject, fields: Fields): boolean {
  let found = false;
  for (const name in fields) {
    if (!Object.hasOwn(object, name)) continue;
    if (object[name] !== fields[name]) return false;
    found = true;
  }
  return found;
}

const PLACEHOLDER_FIELD =
  /"(?:libraryName|uploadUser|lastModified|scenarioName|description)"\s*:\s*"string"|"(?:scenarioId|parentId)"\s*:\s*"integer"|"isResult"\s*:\s*"boolean"/;

/** True if the text has a placeholder. The text may be cut anywhere. */
export function hasPlaceholder(text: string): boolean {
  return PLACEHOLDER_FIELD.test(text);
}

/** The fields of each resource, each with its type as the specification writes it (2.1 to 2.3). */
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

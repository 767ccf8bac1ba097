import { type FieldTable, LIST_FIELDS, type Reject, SCENARIO_FIELDS } from "../../model.ts";

/** The body is not the service's answer, so nothing in it may be stored. The message says what was received. */
export class InvalidResponse extends Error {
  /** The body ended before its JSON did, so its end was probably lost. */
  readonly isTruncated: boolean;

  constructor(message: string, isTruncated = false) {
    super(message);
    this.name = "InvalidResponse";
    this.isTruncated = isTruncated;
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function hasAnyField(object: JsonObject, fields: FieldTable): boolean {
  for (const name in fields) if (Object.hasOwn(object, name)) return true;
  return false;
}

export const MOCK_ADVICE =
  "these are the placeholder words of the documentation's mock, not values: SIMCAT_BASE_URL points at a mock, and nothing was stored";

/** True if each known field of the object contains the name of its type, as in the documentation's mock. */
export function isPlaceholder(object: JsonObject, fields: FieldTable): boolean {
  let found = false;
  for (const name in fields) {
    if (!Object.hasOwn(object, name)) continue;
    if (object[name] !== fields[name]) return false;
    found = true;
  }
  return found;
}

/** Checks that a list can be the service's. `what` names one of its items. */
export function createListCheck(fields: FieldTable, what: string) {
  let items = 0;
  let placeholders = 0;
  let hasKnownField = false;
  return {
    /** `value` is undefined for an item that is too large. */
    add(value: unknown): void {
      hasKnownField ||= value === undefined || (isJsonObject(value) && hasAnyField(value, fields));
      if (placeholders === items && isJsonObject(value) && isPlaceholder(value, fields)) placeholders++;
      items++;
    },
    items: () => items,
    /** @throws InvalidResponse */
    finish(): void {
      if (items === 0) return;
      if (placeholders === items) throw new InvalidResponse(`a list of placeholders: ${MOCK_ADVICE}`);
      const count = items === 1 ? "1 item" : `${items} items`;
      if (!hasKnownField) throw new InvalidResponse(`a list of ${count} without one field of a ${what}`);
    },
  };
}

/** Finds a placeholder in a text that may be cut anywhere. */
export const PLACEHOLDER_FIELD = new RegExp(
  [...Object.entries(LIST_FIELDS), ...Object.entries(SCENARIO_FIELDS)]
    .map(([name, type]) => `"${name}"\\s*:\\s*"${type}"`)
    .join("|"),
);

/** Why an item cannot be stored. */
export type ItemError = Pick<Reject, "code" | "path" | "reason">;

/** Describes a value by its type, and never quotes it. */
function describeType(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** The error for a field whose value is not of its specified type. */
export function wrongField(object: JsonObject, field: string, type: FieldTable[string]): ItemError {
  const value = object[field];
  const code = value === undefined || value === null ? "missing_field" : "wrong_type";
  const expected = type === "integer" ? "an integer" : `a ${type}`;
  return { code, path: field, reason: `${field} is ${describeType(value)}, ${expected} was expected` };
}

const TYPE_OF = { string: "string", integer: "number", boolean: "boolean" } as const;

/** The error of the first of these fields that is of another type; null if each is of its type, null or absent. */
export function findWrongField(object: JsonObject, fields: FieldTable): ItemError | null {
  for (const name in fields) {
    const value = object[name] ?? null;
    const type = fields[name] ?? "string";
    if (value !== null && typeof value !== TYPE_OF[type]) return wrongField(object, name, type);
  }
  return null;
}

/** The most bytes of one item, because parsing takes many times its size in memory. */
export const MAX_ITEM_BYTES = 16 * 1024 * 1024;
/** Bytes of a larger item that are kept, for its reject. */
export const EXCERPT_BYTES = 64 * 1024;

export const TOO_LARGE: ItemError = {
  code: "too_large",
  path: "",
  reason: `the item has more than ${MAX_ITEM_BYTES} bytes, so it was not parsed; the payload is its beginning`,
};

/** The error for an item without fields. `undefined` is an item that is too large. */
export function notAnObject(value: unknown): ItemError {
  if (value === undefined) return TOO_LARGE;
  return { code: "not_an_object", path: "", reason: `the item is ${describeType(value)}, an object was expected` };
}

import type { LibraryKey, Reject, RejectKind } from "../../model.ts";
import type { FieldType, JsonObject } from "./specification.ts";

/** Why an item cannot be stored: a `Reject` without its library. */
export interface ItemError {
  readonly code: string;
  readonly path: string;
  readonly reason: string;
}

export function rejectItem(key: LibraryKey | null, kind: RejectKind, error: ItemError, payload: string): Reject {
  return { key, kind, code: error.code, path: error.path, reason: error.reason, payload };
}

/** Describes a value by its type, and never quotes it. */
function describeType(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** The error for a field whose value is not of its specified type. */
export function wrongField(object: JsonObject, field: string, type: FieldType): ItemError {
  const value = object[field];
  const code = value === undefined || value === null ? "missing_field" : "wrong_type";
  const expected = type === "integer" ? "an integer" : `a ${type}`;
  return { code, path: field, reason: `${field} is ${describeType(value)}, ${expected} was expected` };
}

export function notAnObject(value: unknown): ItemError {
  return { code: "not_an_object", path: "", reason: `the item is ${describeType(value)}, an object was expected` };
}

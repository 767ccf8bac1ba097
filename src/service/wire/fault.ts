import type { LibraryKey, Reject, RejectKind } from "../../model.ts";
import type { FieldType, JsonObject } from "./specification.ts";

/** Why an item cannot be stored: a `Reject` before it is known whose it is. */
export interface Fault {
  readonly code: string;
  readonly path: string;
  readonly reason: string;
}

export function rejectItem(key: LibraryKey | null, kind: RejectKind, fault: Fault, payload: string): Reject {
  return { key, kind, code: fault.code, path: fault.path, reason: fault.reason, payload };
}

/** A value's type in words, never the value. */
function nameType(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** For a field whose value is not of the type that the specification gives it. */
export function wrongField(object: JsonObject, field: string, type: FieldType): Fault {
  const value = object[field];
  const code = value === undefined || value === null ? "missing_field" : "wrong_type";
  const expected = type === "integer" ? "an integer" : `a ${type}`;
  return { code, path: field, reason: `${field} is ${nameType(value)}, ${expected} was expected` };
}

export function notAnObject(value: unknown): Fault {
  return { code: "not_an_object", path: "", reason: `the item is ${nameType(value)}, an object was expected` };
}

import { z } from "zod";
import type { Scenario, ScenarioId } from "../../model.ts";
import { parseExact } from "../json/exact-json.ts";
import { Decimal, mayLoseDigits } from "../json/numerals.ts";
import { type ItemError, wrongField } from "./item-error.ts";
import { isJsonObject, type JsonObject, SCENARIO_FIELDS } from "./specification.ts";
import { findUnstorable } from "./storable.ts";

/** The types of specification 2.3. The two integers are read from the source text, because a double may round them. */
const schema = z.object({
  scenarioName: z.string().nullish(),
  isResult: z.boolean().nullish(),
  lastModified: z.string().nullish(),
  description: z.string().nullish(),
});

export type ScenarioItem =
  | { readonly kind: "good"; readonly id: ScenarioId; readonly scenario: Scenario }
  | { readonly kind: "bad"; readonly id: ScenarioId | null; readonly error: ItemError };

/** `prechecked` is the result of `needsNoCheck` for a chunk that contains the item. */
export function readScenarioItem(object: JsonObject, source: string, prechecked: boolean): ScenarioItem {
  const unstorable = findUnstorable(source, object, prechecked);
  const mayBeRounded = !prechecked && mayLoseDigits(source);
  if (unstorable?.code === "too_deep") {
    return { kind: "bad", id: certainId(object, mayBeRounded), error: unstorable };
  }
  const id = readInteger(object, "scenarioId", source, mayBeRounded);
  if (isItemError(id)) return { kind: "bad", id: null, error: unstorable ?? id };
  if (unstorable !== null) return { kind: "bad", id, error: unstorable };
  const parent = object.parentId ?? null;
  const parentId = parent === null ? null : readInteger(object, "parentId", source, mayBeRounded);
  if (isItemError(parentId)) return { kind: "bad", id, error: parentId };
  const checked = schema.safeParse(object);
  if (!checked.success) {
    const field = String(checked.error.issues[0]?.path[0]) as keyof typeof SCENARIO_FIELDS;
    return { kind: "bad", id, error: wrongField(object, field, SCENARIO_FIELDS[field]) };
  }
  const { scenarioName, isResult, lastModified, description } = checked.data;
  const scenario: Scenario = {
    id,
    parentId,
    name: scenarioName ?? null,
    isResult: isResult ?? null,
    lastModified: lastModified ?? null,
    description: description ?? null,
    source,
  };
  return { kind: "good", id, scenario };
}

function isItemError(value: ScenarioId | ItemError | null): value is ItemError {
  return typeof value === "object" && value !== null;
}

/** The id of an item that nests too deep to be parsed again; null if it may be rounded. */
function certainId(object: JsonObject, mayBeRounded: boolean): ScenarioId | null {
  const value = object.scenarioId;
  return typeof value === "number" && Number.isSafeInteger(value) && !mayBeRounded ? value : null;
}

/**
 * A field as an exact integer. `object` is the parsed `source`, which is parsed again if that lost digits: for a number
 * that is not a safe integer, and for any number if `mayBeRounded`.
 */
function readInteger(object: JsonObject, field: string, source: string, mayBeRounded: boolean): ScenarioId | ItemError {
  const value = object[field];
  if (typeof value !== "number") return wrongField(object, field, "integer");
  if (Number.isSafeInteger(value) && !mayBeRounded) return value === 0 ? 0 : value;
  const exact = parseExact(source, parseInteger);
  const integer = isJsonObject(exact) ? exact[field] : undefined;
  if (typeof integer === "number" || typeof integer === "bigint") return integer;
  if (integer === "out of range") {
    return { code: "out_of_range", path: field, reason: `${field} is an integer beyond ±(2^63−1)` };
  }
  return { code: "wrong_type", path: field, reason: `${field} is a number with a fraction, an integer was expected` };
}

const MAX_INTEGER = 2n ** 63n - 1n;
const MAX_INTEGER_DIGITS = 19;

/** The exact integer of a JSON numeral; `7.0` and `1e2` are integers. */
function parseInteger(numeral: string): ScenarioId | "fraction" | "out of range" {
  const { digits, exponent } = new Decimal(numeral);
  if (digits === "") return 0;
  if (exponent < 0) return "fraction";
  if (digits.length + exponent > "-".length + MAX_INTEGER_DIGITS) return "out of range";
  const value = BigInt(digits + "0".repeat(exponent));
  if (value > MAX_INTEGER || value < -MAX_INTEGER) return "out of range";
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

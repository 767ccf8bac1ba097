import type { ScenarioId } from "../../model.ts";
import { Decimal } from "../json/decimal.ts";
import { parseExact } from "../json/exact-json.ts";
import { type Fault, wrongField } from "./fault.ts";
import { isJsonObject, type JsonObject } from "./specification.ts";

const LARGEST = 2n ** 63n - 1n;
const MOST_DIGITS = 19;

/** The integer that a JSON numeral stands for, whatever a double makes of it: `7.0` and `1e2` are integers. */
function parseInteger(numeral: string): ScenarioId | "fraction" | "out of range" {
  const { digits, exponent } = new Decimal(numeral);
  if (digits === "") return 0;
  if (exponent < 0) return "fraction";
  if (digits.length + exponent > "-".length + MOST_DIGITS) return "out of range";
  const value = BigInt(digits + "0".repeat(exponent));
  if (value > LARGEST || value < -LARGEST) return "out of range";
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/**
 * A field as an exact integer. The object is what `JSON.parse` made of `source`, which is read again where that lost
 * digits: a number beyond the safe ones, or any one when `doubtful` (`mayLoseDigits`).
 */
export function readInteger(object: JsonObject, field: string, source: string, doubtful: boolean): ScenarioId | Fault {
  const value = object[field];
  if (typeof value !== "number") return wrongField(object, field, "integer");
  if (Number.isSafeInteger(value) && !doubtful) return value === 0 ? 0 : value;
  const exact = parseExact(source, parseInteger);
  const integer = isJsonObject(exact) ? exact[field] : undefined;
  if (typeof integer === "number" || typeof integer === "bigint") return integer;
  if (integer === "out of range") {
    return { code: "out_of_range", path: field, reason: `${field} is an integer beyond ±(2^63−1)` };
  }
  return { code: "wrong_type", path: field, reason: `${field} is a number with a fraction, an integer was expected` };
}

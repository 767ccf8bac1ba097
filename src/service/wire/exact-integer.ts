import { isLosslessNumber } from "lossless-json";
import type { ScenarioId } from "../../model.ts";
import { parseNumerals } from "../json/exact-json.ts";
import { type Fault, wrongField } from "./fault.ts";
import { isJsonObject, type JsonObject } from "./specification.ts";

const LARGEST = 2n ** 63n - 1n;
const MOST_DIGITS = 19;

/** The integer that a JSON numeral stands for, whatever a double makes of it: `7.0` and `1e2` are integers. */
function parseInteger(numeral: string): ScenarioId | "fraction" | "out of range" {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(numeral);
  if (match === null) return "fraction";
  const [, sign = "", whole = "", fraction = "", power = "0"] = match;
  const digits = whole + fraction;
  let first = 0;
  let last = digits.length;
  while (digits[first] === "0") first++;
  if (first === last) return 0;
  while (digits[last - 1] === "0") last--;
  // The value is digits[first..last) × 10 ^ zeros.
  const zeros = Number(power) + whole.length - last;
  if (zeros < 0) return "fraction";
  if (last - first + zeros > MOST_DIGITS) return "out of range";
  const value = BigInt(sign + digits.slice(first, last) + "0".repeat(zeros));
  if (value > LARGEST || value < -LARGEST) return "out of range";
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/**
 * A field as an exact integer. The object is what `JSON.parse` made of `source`, which is read again where that lost
 * digits: a number beyond the safe ones, or any one when `doubtful` (`mayRoundToInteger`).
 */
export function readInteger(object: JsonObject, field: string, source: string, doubtful: boolean): ScenarioId | Fault {
  const value = object[field];
  if (typeof value !== "number") return wrongField(object, field, "integer");
  if (Number.isSafeInteger(value) && !doubtful) return value === 0 ? 0 : value;
  const numerals = parseNumerals(source);
  const numeral = isJsonObject(numerals) ? numerals[field] : undefined;
  const integer = isLosslessNumber(numeral) ? parseInteger(numeral.value) : "fraction";
  if (integer === "fraction") {
    return { code: "wrong_type", path: field, reason: `${field} is a number with a fraction, an integer was expected` };
  }
  if (integer === "out of range") {
    return { code: "out_of_range", path: field, reason: `${field} is an integer beyond ±(2^63−1)` };
  }
  return integer;
}

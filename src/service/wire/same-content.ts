import { isDeepStrictEqual } from "node:util";
import { mayLoseDigits, parseNumerals } from "../json/exact-json.ts";
import { DEEPEST, isDeeperThan } from "../json/json-text.ts";

/** Whether two JSON texts say the same: white space, the order of keys and the spelling of strings do not count. */
export function saySame(a: string, b: string): boolean {
  if (a === b) return true;
  if (isDeeperThan(DEEPEST, a) || isDeeperThan(DEEPEST, b)) return false;
  if (!isDeepStrictEqual(JSON.parse(a), JSON.parse(b))) return false;
  if (!mayLoseDigits(a) && !mayLoseDigits(b)) return true;
  return isDeepStrictEqual(parseNumerals(a), parseNumerals(b));
}

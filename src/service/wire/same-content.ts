import { isDeepStrictEqual } from "node:util";
import { Decimal } from "../json/decimal.ts";
import { parseExact } from "../json/exact-json.ts";
import { DEEPEST, isDeeperThan } from "../json/json-text.ts";

const parse = (source: string) => parseExact(source, (numeral) => new Decimal(numeral));

/**
 * Whether two JSON texts have the same value, as jsonb would have it: white space, the order of keys and the spelling of
 * strings, keys and numbers do not count, and of two equal keys in one object the last counts.
 */
export function saySame(a: string, b: string): boolean {
  if (a === b) return true;
  if (isDeeperThan(DEEPEST, a) || isDeeperThan(DEEPEST, b)) return false;
  return isDeepStrictEqual(parse(a), parse(b));
}

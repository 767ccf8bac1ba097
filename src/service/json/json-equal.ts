import { isDeepStrictEqual } from "node:util";
import { parseExact } from "./exact-json.ts";
import { isDeeperThan, MAX_DEPTH } from "./json-text.ts";
import { Decimal } from "./numerals.ts";

const parse = (source: string) => parseExact(source, (numeral) => new Decimal(numeral));

/**
 * True if two JSON texts have the same value, by the rules of jsonb: white space, the order of keys and the spelling of
 * strings, keys and numbers do not count, and the last of two equal keys in one object wins.
 */
export function jsonEqual(a: string, b: string): boolean {
  if (a === b) return true;
  if (isDeeperThan(MAX_DEPTH, a) || isDeeperThan(MAX_DEPTH, b)) return false;
  return isDeepStrictEqual(parse(a), parse(b));
}

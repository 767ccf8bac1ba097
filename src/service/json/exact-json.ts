import { isDeepStrictEqual } from "node:util";
import { Decimal, endOfString, isDeeperThan, isSpace, MAX_DEPTH } from "./json-text.ts";

const NUMERAL_AT = /[-+.\deE]+/y;
const KEYWORDS = { t: true, f: false, n: null } as const;

/**
 * Parses text that `JSON.parse` accepts and that is not nested deeply. `readNumber` converts each numeral as it is
 * spelled, also those under a key that a later equal key overrides. As in `JSON.parse` and jsonb, the last key wins.
 */
export function parseExact(source: string, readNumber: (numeral: string) => unknown): unknown {
  let index = 0;

  /** The next character that is not white space. */
  const next = () => {
    while (isSpace(source.charCodeAt(index))) index++;
    return source[index];
  };
  const readString = (): string => {
    const start = index;
    index = endOfString(source, start);
    return JSON.parse(source.slice(start, index));
  };
  /** Calls `readMember` for each member of the object or list that begins here. */
  const readMembers = (close: string, readMember: () => void) => {
    index++;
    while (next() !== close) {
      readMember();
      if (next() === ",") index++;
    }
    index++;
  };
  const readObject = () => {
    // Without a prototype `__proto__` is a key like any other.
    const object: Record<string, unknown> = Object.create(null);
    readMembers("}", () => {
      const key = readString();
      next();
      index++;
      object[key] = readValue();
    });
    return object;
  };
  const readList = () => {
    const list: unknown[] = [];
    readMembers("]", () => list.push(readValue()));
    return list;
  };
  const readValue = (): unknown => {
    const first = next();
    if (first === '"') return readString();
    if (first === "{") return readObject();
    if (first === "[") return readList();
    if (first === "t" || first === "f" || first === "n") {
      index += first === "f" ? "false".length : "true".length;
      return KEYWORDS[first];
    }
    NUMERAL_AT.lastIndex = index;
    const numeral = NUMERAL_AT.exec(source)?.[0] ?? "";
    index += numeral.length;
    return readNumber(numeral);
  };
  return readValue();
}

const parseValue = (source: string) => parseExact(source, (numeral) => new Decimal(numeral));

/**
 * True if two JSON texts have the same value, by the rules of jsonb: white space, the order of keys and the spelling of
 * strings, keys and numbers do not count, and the last of two equal keys in one object wins.
 */
export function jsonEqual(a: string, b: string): boolean {
  if (a === b) return true;
  if (isDeeperThan(MAX_DEPTH, a) || isDeeperThan(MAX_DEPTH, b)) return false;
  return isDeepStrictEqual(parseValue(a), parseValue(b));
}

import { isSpace } from "./json-item.ts";
import { endOfString } from "./json-text.ts";

/** A numeral of fewer characters, its point among them, is exact as a double. */
const LONG = 16;
const LARGE_EXPONENT = /\d[eE][+-]?\d{3}/;

function isOfNumeral(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x30 && byte <= 0x39) || byte === 0x2e);
}

/** Looks at one byte in sixteen, and around it where it is of a numeral: a sixth of what a regular expression takes. */
function hasLongNumeral(bytes: Uint8Array): boolean {
  for (let at = LONG - 1; at < bytes.length; at += LONG) {
    if (!isOfNumeral(bytes[at])) continue;
    let first = at;
    while (isOfNumeral(bytes[first - 1])) first--;
    let behind = at + 1;
    while (isOfNumeral(bytes[behind])) behind++;
    if (behind - first >= LONG) return true;
  }
  return false;
}

/** Whether a double may stand for another number than the numeral it was read from. Strings can make it true for nothing. */
export function mayLoseDigits(source: string, bytes: Uint8Array = Buffer.from(source)): boolean {
  return LARGE_EXPONENT.test(source) || hasLongNumeral(bytes);
}

const NUMERAL = /[-+.\deE]+/y;
const KEYWORDS = { t: true, f: false, n: null } as const;

/**
 * Reads text that `JSON.parse` accepts, which is not nested deeply. `readNumber` turns each numeral, as it is spelled,
 * into a value; also under a key that a later equal one overrides, as it does for `JSON.parse` and for jsonb.
 */
export function parseExact(source: string, readNumber: (numeral: string) => unknown): unknown {
  let at = 0;

  /** The next character that is not white space. */
  const next = () => {
    while (isSpace(source.charCodeAt(at))) at++;
    return source[at];
  };
  const readString = (): string => {
    const start = at;
    at = endOfString(source, start);
    return JSON.parse(source.slice(start, at));
  };
  /** Calls `readMember` for each member of the object or list that begins here. */
  const readMembers = (close: string, readMember: () => void) => {
    at++;
    while (next() !== close) {
      readMember();
      if (next() === ",") at++;
    }
    at++;
  };
  const readObject = () => {
    // Without a prototype `__proto__` is a key like any other.
    const object: Record<string, unknown> = Object.create(null);
    readMembers("}", () => {
      const key = readString();
      next();
      at++;
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
      at += first === "f" ? "false".length : "true".length;
      return KEYWORDS[first];
    }
    NUMERAL.lastIndex = at;
    const numeral = NUMERAL.exec(source)?.[0] ?? "";
    at += numeral.length;
    return readNumber(numeral);
  };
  return readValue();
}

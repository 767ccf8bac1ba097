import { isUtf8 } from "node:buffer";
import { EXCERPT_BYTES, InvalidResponse, MAX_ITEM_BYTES, MOCK_ADVICE, PLACEHOLDER_FIELD } from "./item-checks.ts";
import { isPlainText } from "./storable-json.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The progress of scanning one item, whose bytes may arrive in several chunks. `escaped`: the next byte is. */
const startScan = () => ({ depth: 0, quoted: false, escaped: false });

/**
 * Returns the index of the comma or the bracket that ends the item, or -1 if the chunk has none. Counts brackets and
 * quotes only; `JSON.parse` checks the rest. It copies the state into locals, because a closure's variables are slower.
 */
function findEnd(scan: ReturnType<typeof startScan>, chunk: Uint8Array, from: number): number {
  let { depth, quoted } = scan;
  let i = scan.escaped ? from + 1 : from;
  let end = -1;
  while (i < chunk.length) {
    if (quoted) {
      while (i < chunk.length && chunk[i] !== QUOTE) i += chunk[i] === BACKSLASH ? 2 : 1;
      if (i >= chunk.length) break;
      quoted = false;
      i++;
      continue;
    }
    const byte = chunk[i];
    if (depth <= 0 && (byte === COMMA || byte === CLOSE_LIST)) {
      end = i;
      break;
    }
    if (byte === QUOTE) quoted = true;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth--;
    i++;
  }
  scan.depth = depth;
  scan.quoted = quoted;
  scan.escaped = i > chunk.length;
  return end;
}

/** True if a JSON text ends within a string, an object or a list. */
export function isUnfinished(text: Uint8Array): boolean {
  const scan = startScan();
  findEnd(scan, text, 0);
  return scan.quoted || scan.depth > 0;
}

/** The bytes of a response body, without a byte order mark. */
export interface ByteSource {
  /** The next bytes; null after the last. */
  read(): Promise<Buffer | null>;
}

/**
 * An item's exact source text, and its value as `JSON.parse` returns it. If it is over MAX_ITEM_BYTES, `source` is its
 * beginning and `value` is undefined.
 */
export interface ListItem {
  readonly source: string;
  readonly value: unknown;
  /** As `isPlainText` says of the source, or of a text that contains it. */
  readonly isPlain: boolean;
}

/** Enough to describe a response by. */
const SNIFF_BYTES = 4096;

/**
 * Guesses the index after the object that begins at `from`, assuming a list of objects without white space between them;
 * -1 if there is no guess. `text` has one character per byte.
 */
function guessEnd(text: string, from: number): number {
  const next = text.indexOf("},{", from);
  if (next !== -1) return next + 1;
  return text.endsWith("}]") ? text.length - 1 : -1;
}

/** Null if the text is not well-formed JSON. */
function parseItem(source: string, isPlain: boolean): ListItem | null {
  try {
    return { source, value: JSON.parse(source), isPlain };
  } catch {
    return null;
  }
}

/** The first byte that is not JSON's white space. */
const NOT_SPACE = /[^ \t\r\n]/;

/**
 * Splits a JSON array into its items while its bytes arrive, in chunks of any size, so that a list of one million items
 * is never in memory as a whole.
 *
 * The end of an object is guessed first and confirmed by parsing it, because that is faster than scanning each byte.
 */
export function createArraySplitter() {
  let phase: "start" | "inside" | "done" = "start";
  /** The beginning of an incomplete item, in the pieces in which it arrived. */
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let scan = startScan();
  let itemCount = 0;
  /** A guess was wrong. The rest of the list is scanned, because each wrong guess costs an exception. */
  let hasMisguessed = false;

  /** Copies the bytes, because the sender may reuse its buffer. Only the beginning of an item that is too large is kept. */
  function keep(bytes: Uint8Array): void {
    pendingBytes += bytes.length;
    if (pendingBytes <= MAX_ITEM_BYTES) pending.push(Buffer.from(bytes));
    else pending = [Buffer.concat([...pending, bytes], EXCERPT_BYTES)];
  }

  function invalidItem(what: string): InvalidResponse {
    return new InvalidResponse(`item ${itemCount + 1} of the list is ${what}`);
  }

  /** The item that ends with these bytes, its beginning may be pending; null if the list is empty. */
  function completeItem(last: Buffer, isLast: boolean): ListItem | null {
    const size = pendingBytes + last.length;
    if (pendingBytes > 0 || size > MAX_ITEM_BYTES) keep(last);
    const bytes = pendingBytes > 0 ? Buffer.concat(pending) : last;
    pending = [];
    pendingBytes = 0;
    scan = startScan();
    const text = bytes.toString("utf8");
    if (size > MAX_ITEM_BYTES) return { source: text, value: undefined, isPlain: false };
    // One malformed item makes the whole response invalid.
    if (!isUtf8(bytes)) throw invalidItem("not UTF-8");
    const item = parseItem(text, isPlainText(text));
    // The text is valid JSON, so `trim` removes only JSON's own white space.
    if (item !== null) return { ...item, source: text.trim() };
    if (NOT_SPACE.test(text)) throw invalidItem("not well-formed JSON");
    if (isLast && itemCount === 0) return null;
    throw new InvalidResponse(`no item ${itemCount + 1} in the list`);
  }

  /**
   * Returns the items that these bytes completed.
   * @throws InvalidResponse
   */
  function push(bytes: Buffer): ListItem[] {
    const items: ListItem[] = [];
    const text = bytes.toString("latin1");
    const isBatchPlain = isPlainText(text);
    let mayGuess = !hasMisguessed && isUtf8(bytes);
    let start = 0;
    if (phase === "start") {
      start = text.search(NOT_SPACE);
      if (start === -1) return items;
      if (bytes[start] !== OPEN_LIST) {
        const head = bytes.toString("utf8", start, start + SNIFF_BYTES);
        const advice = PLACEHOLDER_FIELD.test(head) ? `: ${MOCK_ADVICE}` : "";
        throw new InvalidResponse(`${describeResponse(head)} where a list belongs${advice}`);
      }
      phase = "inside";
      start++;
    }
    while (phase === "inside") {
      let item: ListItem | null = null;
      let end = -1;
      if (mayGuess && pendingBytes === 0 && bytes[start] === OPEN_OBJECT) {
        end = guessEnd(text, start);
        // Text that begins an object and is well-formed JSON is the whole object, so the guess was right.
        if (end !== -1 && end - start <= MAX_ITEM_BYTES)
          item = parseItem(bytes.toString("utf8", start, end), isBatchPlain);
        mayGuess = item !== null;
        hasMisguessed = end !== -1 && item === null;
      }
      if (item === null) {
        end = findEnd(scan, bytes, start);
        if (end === -1) break;
        item = completeItem(bytes.subarray(start, end), bytes[end] === CLOSE_LIST);
      }
      if (item !== null) {
        items.push(item);
        itemCount++;
      }
      if (bytes[end] === CLOSE_LIST) phase = "done";
      start = end + 1;
    }
    if (phase === "inside") keep(bytes.subarray(start));
    else if (NOT_SPACE.test(text.slice(start))) throw new InvalidResponse("more text after the end of the list");
    return items;
  }

  /** @throws InvalidResponse, truncated if the list did not end */
  function end(): void {
    if (phase === "start") throw new InvalidResponse("an empty answer");
    if (phase === "inside") throw new InvalidResponse("the answer ends in the middle of the list", true);
  }

  return { push, end };
}

/** Describes a response that is not the expected JSON by its beginning, for an error message: `an HTML page`. */
export function describeResponse(beginning: string): string {
  const text = beginning.replace(/^[ \t\r\n]+/, "").trimEnd();
  if (text.startsWith("<")) return "an HTML page";
  if (text.startsWith("{")) return "an object";
  if (text.startsWith("[")) return "a list";
  if (text.startsWith('"')) return "a string";
  if (text === "null") return "null";
  if (text === "true" || text === "false") return "a boolean";
  return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? "a number" : "plain text or binary data";
}

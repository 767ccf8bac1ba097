import { isUtf8 } from "node:buffer";
import { HeldBytes } from "../json/held-bytes.ts";
import { beginItem, isSpace, openItem, scanItem } from "../json/json-item.ts";
import { MalformedJson } from "../json/malformed-json.ts";
import { decodeUtf8 } from "../json/utf8.ts";
import { HEAD, nameAnswer } from "./name-answer.ts";
import { MOCK_ADVICE, showsPlaceholders } from "./placeholders.ts";
import { isPlain } from "./storable.ts";

export { MalformedJson };

/** An item's exact source text, and what `JSON.parse` makes of it. */
export interface ListItem {
  readonly source: string;
  readonly value: unknown;
}

export interface ArraySplitter {
  /** The items that this chunk completed. Throws MalformedJson. */
  push(chunk: Uint8Array): ListItem[];
  /** What `isPlain` says of all items of the last push. */
  plain(): boolean;
  /** Throws MalformedJson, `truncated` when the list never ended. */
  end(): void;
}

type Phase = "start" | "no list" | "first" | "item" | "inside" | "behind" | "done";

const BOM = [0xef, 0xbb, 0xbf] as const;
const COMMA = 0x2c;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const OPEN_OBJECT = 0x7b;

/** The phase after a byte that stands outside of all items. */
function step(phase: Phase, byte: number, offset: number): Phase {
  if (isSpace(byte)) return phase;
  if (phase === "start") return byte === OPEN ? "first" : "no list";
  if (phase === "done") throw new MalformedJson(`more at byte ${offset}, behind the end of the list`);
  if (phase === "behind") {
    if (byte === COMMA) return "item";
    if (byte === CLOSE) return "done";
    throw new MalformedJson(`no comma at byte ${offset}, between two items of the list`);
  }
  if (byte === CLOSE && phase === "first") return "done";
  if (byte === CLOSE || byte === COMMA) throw new MalformedJson(`no item before byte ${offset} of the list`);
  return "inside";
}

function describeHead(head: Buffer): MalformedJson {
  const found = nameAnswer(head);
  const mock = showsPlaceholders(head.toString("utf8")) ? `: ${MOCK_ADVICE}` : "";
  return new MalformedJson(found.startsWith("not UTF-8") ? found : `${found} where a list belongs${mock}`);
}

/**
 * Index behind the object that begins at `from`, as it would be in a list of objects without white space between them;
 * -1 without a guess. `text` has one character for each byte.
 */
function guessEnd(text: string, from: number): number {
  const next = text.indexOf("},{", from);
  if (next !== -1) return next + 1;
  return text.endsWith("}]") ? text.length - 1 : -1;
}

/** Null when the text is not well-formed JSON. */
function parseItem(source: string): ListItem | null {
  try {
    return { source, value: JSON.parse(source) };
  } catch {
    return null;
  }
}

/**
 * Splits a JSON array into its items while its bytes arrive, cut anywhere, so that a list of a million items never stands
 * in memory as a whole.
 */
export function splitArray(): ArraySplitter {
  const held = new HeldBytes();
  const item = openItem();
  let phase: Phase = "start";
  let bom = 0;
  let read = 0;
  let count = 0;
  let plain = true;
  /** A guess was wrong: the rest of this list is not guessed at, since each wrong one costs an exception. */
  let misled = false;

  function skipBom(bytes: Buffer): number {
    let i = 0;
    while (i < bytes.length && bom === read + i && bytes[i] === BOM[bom]) {
      bom++;
      i++;
    }
    return i;
  }

  /** The item that ends there, whose beginning may be held. */
  function complete(bytes: Buffer, from: number, end: number): ListItem {
    let whole = bytes.subarray(from, end);
    if (held.length > 0) {
      held.add(whole);
      whole = held.take();
    }
    const source = decodeUtf8(whole, read + end - whole.length);
    if (whole.length > end - from) plain &&= isPlain(source, whole);
    const parsed = parseItem(source);
    // An item that is not JSON spoils the whole answer. The parser's own message would quote it.
    if (parsed === null) throw new MalformedJson(`item ${count + 1} of the list is not well-formed JSON`);
    return parsed;
  }

  function split(bytes: Buffer, from: number): ListItem[] {
    const items: ListItem[] = [];
    const text = bytes.toString("latin1");
    let guessing = !misled && isUtf8(bytes);
    plain = isPlain(text, bytes);
    let i = from;
    if (phase === "start" && bom % BOM.length > 0 && i < bytes.length) {
      held.add(Buffer.from(BOM.slice(0, bom)));
      phase = "no list";
    }
    const take = (one: ListItem, end: number) => {
      items.push(one);
      count++;
      phase = "behind";
      i = end;
    };
    while (i < bytes.length) {
      if (phase !== "inside") {
        const byte = bytes[i] ?? 0;
        if (phase !== "no list") phase = step(phase, byte, read + i);
        if (phase === "no list") break;
        if (phase !== "inside") {
          i++;
          continue;
        }
        const end = guessing && byte === OPEN_OBJECT ? guessEnd(text, i) : -1;
        const guessed = end === -1 ? null : parseItem(bytes.toString("utf8", i, end));
        // What begins an object and is one is the whole of it: a guess that can be parsed is right.
        if (guessed !== null) {
          take(guessed, end);
          continue;
        }
        guessing = false;
        misled ||= end !== -1;
        beginItem(item, byte);
      }
      const end = scanItem(item, bytes, i);
      if (end === -1) break;
      take(complete(bytes, i, end), end);
    }
    if (phase === "inside") held.add(bytes.subarray(i));
    if (phase === "no list") held.add(bytes.subarray(i, i + HEAD));
    return items;
  }

  function push(chunk: Uint8Array): ListItem[] {
    if (chunk.length === 0) return [];
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const items = split(bytes, phase === "start" ? skipBom(bytes) : 0);
    read += bytes.length;
    if (phase === "no list" && held.length >= HEAD) throw describeHead(held.take());
    return items;
  }

  function end(): void {
    if (phase === "done") return;
    if (phase === "no list") throw describeHead(held.take());
    if (phase === "start" && bom % BOM.length === 0) throw new MalformedJson("an empty answer", "empty");
    throw new MalformedJson("the answer ends in the middle of the list", "truncated");
  }

  return { push, plain: () => plain, end };
}

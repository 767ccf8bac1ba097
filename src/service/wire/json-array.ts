import { isUtf8 } from "node:buffer";
import { holdBytes } from "../json/held-bytes.ts";
import { beginItem, isSpace, openItem, scanItem } from "../json/json-item.ts";
import { MalformedJson } from "../json/malformed-json.ts";
import { decodeUtf8 } from "../json/utf8.ts";
import { HEAD, nameAnswer } from "./name-answer.ts";
import { MOCK_ADVICE, showsPlaceholders } from "./placeholders.ts";

export { MalformedJson };

export interface ArraySplitter {
  /** The items that this chunk completed, each as its exact source text. Throws MalformedJson. */
  push(chunk: Uint8Array): string[];
  /** Whether all items of the last push are plain: their numbers and texts need no closer look (`json-item.ts`). */
  plain(): boolean;
  /** Throws MalformedJson, `truncated` when the list never ended. */
  end(): void;
}

type Phase = "start" | "no list" | "first" | "item" | "inside" | "behind" | "done";

const BOM = [0xef, 0xbb, 0xbf] as const;
const COMMA = 0x2c;
const OPEN = 0x5b;
const CLOSE = 0x5d;

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
 * Splits a JSON array into the source texts of its items while its bytes arrive, cut anywhere, so that a list of a
 * million items never stands in memory as a whole. Whether an item is JSON is left to whoever parses it.
 */
export function splitArray(): ArraySplitter {
  const held = holdBytes();
  const item = openItem();
  let phase: Phase = "start";
  let bom = 0;
  let read = 0;
  let plain = true;

  function skipBom(bytes: Buffer): number {
    let i = 0;
    while (i < bytes.length && bom === read + i && bytes[i] === BOM[bom]) {
      bom++;
      i++;
    }
    return i;
  }

  function split(bytes: Buffer, from: number): string[] {
    const items: string[] = [];
    const valid = isUtf8(bytes);
    plain = true;
    let i = from;
    if (phase === "start" && bom % BOM.length > 0 && i < bytes.length) {
      held.add(Buffer.from(BOM.slice(0, bom)));
      phase = "no list";
    }
    while (i < bytes.length) {
      if (phase !== "inside") {
        const byte = bytes[i] ?? 0;
        if (phase !== "no list") phase = step(phase, byte, read + i);
        if (phase === "no list") break;
        if (phase === "inside") beginItem(item, byte);
        else i++;
        continue;
      }
      const end = scanItem(item, bytes, i);
      if (end === -1) break;
      if (held.length > 0) {
        held.add(bytes.subarray(i, end));
        const offset = read + end - held.length;
        items.push(decodeUtf8(held.take(), offset));
      } else items.push(valid ? bytes.toString("utf8", i, end) : decodeUtf8(bytes.subarray(i, end), read + i));
      plain &&= item.plain;
      phase = "behind";
      i = end;
    }
    if (phase === "inside") held.add(bytes.subarray(i));
    if (phase === "no list") held.add(bytes.subarray(i, i + HEAD));
    return items;
  }

  function push(chunk: Uint8Array): string[] {
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

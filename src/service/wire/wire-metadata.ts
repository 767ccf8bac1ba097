import { type LibraryKey, METADATA_FIELDS, type Metadata, type MetadataField, type Reject } from "../../model.ts";
import { decodeUtf8, firstBadByte, isCutSequence } from "../json/json-text.ts";
import { MalformedJson, UntrustedResponse } from "../json/parse-errors.ts";
import { type ByteSource, beginItem, createItemState, describeResponse, SNIFF_BYTES, scanItem } from "./json-array.ts";
import {
  EXCERPT_BYTES,
  hasAnyField,
  type ItemError,
  isJsonObject,
  isPlaceholder,
  MAX_ITEM_BYTES,
  MOCK_ADVICE,
  readFields,
  rejectItem,
  TOO_LARGE,
} from "./specification.ts";
import { findUnstorable } from "./storable.ts";

export interface ParsedMetadata {
  /** Null if the object was rejected. */
  readonly metadata: Metadata | null;
  readonly rejects: readonly Reject[];
}

/**
 * Reads a metadata response (specification 4.2) and returns its bytes too; of an object over MAX_ITEM_BYTES, its beginning.
 * @throws MalformedJson and UntrustedResponse
 */
export async function readMetadata(body: ByteSource, key: LibraryKey): Promise<ParsedMetadata & { bytes: Buffer }> {
  let batches: Buffer[] = [];
  let size = 0;
  for (let batch = await body.read(); batch !== null; batch = await body.read()) {
    batches.push(batch);
    size += batch.length;
    if (size > MAX_ITEM_BYTES) batches = [Buffer.concat(batches, EXCERPT_BYTES)];
  }
  const bytes = batches.length === 1 && batches[0] !== undefined ? batches[0] : Buffer.concat(batches);
  if (size > MAX_ITEM_BYTES) return { bytes, ...rejectTooLarge(key, bytes) };
  return { bytes, ...parseMetadata(key, bytes) };
}

const FIELD_NAMES = Object.keys(METADATA_FIELDS) as readonly MetadataField[];
const TRUNCATED = "the answer ends in the middle of its JSON";

/**
 * Parses a complete metadata response.
 * @throws MalformedJson and UntrustedResponse
 */
export function parseMetadata(key: LibraryKey, bytes: Buffer): ParsedMetadata {
  if (isCutSequence(bytes, firstBadByte(bytes))) throw new MalformedJson(TRUNCATED, "truncated");
  const text = decodeUtf8(bytes, 0);
  const object = parse(text);
  // The text is valid JSON, so `trim` removes nothing but JSON's own white space.
  const source = text.trim();
  if (!isJsonObject(object)) throw notMetadata(source);
  if (!hasAnyField(object, METADATA_FIELDS)) {
    throw new UntrustedResponse("an object without any field of library metadata");
  }
  if (isPlaceholder(object, METADATA_FIELDS)) throw new UntrustedResponse(`an object of placeholders: ${MOCK_ADVICE}`);
  const reject = (error: ItemError) => ({ metadata: null, rejects: [rejectItem(key, "metadata", error, source)] });
  const unstorable = findUnstorable(source, object);
  if (unstorable !== null) return reject(unstorable);
  const fields = readFields(object, METADATA_FIELDS);
  if (fields.error !== null) return reject(fields.error);
  const absent = FIELD_NAMES.filter((name) => !Object.hasOwn(object, name));
  return { metadata: { ...fields.values, absent, source }, rejects: [] };
}

function rejectTooLarge(key: LibraryKey, beginning: Buffer): ParsedMetadata {
  const source = beginning.toString("utf8").trimStart();
  if (!source.startsWith("{")) throw notMetadata(source);
  return { metadata: null, rejects: [rejectItem(key, "metadata", TOO_LARGE, source)] };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message would quote the payload.
    const source = text.trim();
    if (source === "") throw new MalformedJson("an empty answer", "empty");
    if (isUnfinished(source)) throw new MalformedJson(TRUNCATED, "truncated");
    if (/^[[{"]/.test(source)) throw new MalformedJson("not well-formed JSON");
    throw notMetadata(source);
  }
}

function notMetadata(source: string): UntrustedResponse {
  const head = Buffer.from(source.slice(0, SNIFF_BYTES));
  return new UntrustedResponse(`${describeResponse(head)} where library metadata belongs`);
}

function isUnfinished(text: string): boolean {
  const bytes = Buffer.from(text);
  const scan = createItemState();
  beginItem(scan, bytes[0] ?? 0);
  return !scan.bare && scanItem(scan, bytes, 0) === -1;
}

import { isUtf8 } from "node:buffer";
import { type LibraryKey, METADATA_FIELDS, type Metadata, type MetadataField } from "../../model.ts";
import {
  EXCERPT_BYTES,
  findWrongField,
  hasAnyField,
  InvalidResponse,
  type ItemError,
  isJsonObject,
  isPlaceholder,
  MAX_ITEM_BYTES,
  MOCK_ADVICE,
  TOO_LARGE,
} from "./item-checks.ts";
import { type ByteSource, describeResponse, isUnfinished } from "./json-array.ts";
import { findUnstorable } from "./storable-json.ts";

/**
 * Reads a metadata response (specification 4.2) and returns its bytes too; of an object over MAX_ITEM_BYTES, its beginning. The
 * metadata is null if the object was rejected.
 * @throws InvalidResponse
 */
export async function readMetadata(body: ByteSource, key: LibraryKey) {
  let batches: Buffer[] = [];
  let size = 0;
  for (let batch = await body.read(); batch !== null; batch = await body.read()) {
    batches.push(batch);
    size += batch.length;
    if (size > MAX_ITEM_BYTES) batches = [Buffer.concat(batches, EXCERPT_BYTES)];
  }
  const bytes = batches.length === 1 && batches[0] !== undefined ? batches[0] : Buffer.concat(batches);
  if (size <= MAX_ITEM_BYTES) return { bytes, ...parseMetadata(key, bytes) };
  const source = bytes.toString("utf8").trimStart();
  if (!source.startsWith("{")) throw notMetadata(source);
  return { bytes, ...rejectMetadata(key, TOO_LARGE, source) };
}

const FIELD_NAMES = Object.keys(METADATA_FIELDS) as readonly MetadataField[];

/**
 * Parses a complete metadata response.
 * @throws InvalidResponse
 */
export function parseMetadata(key: LibraryKey, bytes: Buffer) {
  const text = bytes.toString("utf8");
  const object = parseBody(bytes, text);
  // The text is valid JSON, so `trim` removes nothing but JSON's own white space.
  const source = text.trim();
  if (!isJsonObject(object)) throw notMetadata(source);
  if (!hasAnyField(object, METADATA_FIELDS)) {
    throw new InvalidResponse("an object without any field of library metadata");
  }
  if (isPlaceholder(object, METADATA_FIELDS)) throw new InvalidResponse(`an object of placeholders: ${MOCK_ADVICE}`);
  const error = findUnstorable(source, object) ?? findWrongField(object, METADATA_FIELDS);
  if (error !== null) return rejectMetadata(key, error, source);
  const absent: MetadataField[] = [];
  // Filled in place, because spreading the values into another object is slow.
  const metadata: Record<string, unknown> = { absent, source };
  for (const name of FIELD_NAMES) {
    if (!Object.hasOwn(object, name)) absent.push(name);
    metadata[name] = object[name] ?? null;
  }
  return { metadata: metadata as unknown as Metadata, rejects: [] };
}

function rejectMetadata(key: LibraryKey, error: ItemError, payload: string) {
  return { metadata: null, rejects: [{ key, kind: "metadata" as const, ...error, payload }] };
}

function parseBody(bytes: Buffer, text: string): unknown {
  try {
    if (isUtf8(bytes)) return JSON.parse(text);
  } catch {
    // The parser's own message would quote the payload.
  }
  const source = text.trim();
  if (source === "") throw new InvalidResponse("an empty answer");
  if (isUnfinished(bytes)) throw new InvalidResponse("the answer ends in the middle of its JSON", true);
  throw /^[[{"]/.test(source) ? new InvalidResponse("not well-formed JSON in UTF-8") : notMetadata(source);
}

function notMetadata(source: string): InvalidResponse {
  return new InvalidResponse(`${describeResponse(source)} where library metadata belongs`);
}

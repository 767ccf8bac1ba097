import { z } from "zod";
import type { LibraryKey, Metadata, MetadataField, Reject } from "../../model.ts";
import { beginItem, createItemState, scanItem } from "../json/json-item.ts";
import { MalformedJson, UntrustedResponse } from "../json/parse-errors.ts";
import { decodeUtf8, firstBadByte, isCutSequence } from "../json/utf8.ts";
import { describeResponse, SNIFF_BYTES } from "./describe-response.ts";
import { type ItemError, rejectItem, wrongField } from "./item-error.ts";
import type { ByteSource } from "./json-array.ts";
import {
  hasAnyField,
  isJsonObject,
  isPlaceholder,
  type JsonObject,
  METADATA_FIELDS,
  MOCK_ADVICE,
} from "./specification.ts";
import { findUnstorable } from "./storable.ts";

export interface ParsedMetadata {
  /** Null if the object was rejected. */
  readonly metadata: Metadata | null;
  readonly rejects: readonly Reject[];
}

/**
 * Reads a metadata response (specification 4.2) and returns its bytes too.
 * @throws MalformedJson and UntrustedResponse
 */
export async function readMetadata(body: ByteSource, key: LibraryKey): Promise<ParsedMetadata & { bytes: Buffer }> {
  const batches: Buffer[] = [];
  for (let batch = await body.read(); batch !== null; batch = await body.read()) batches.push(batch);
  const bytes = batches.length === 1 && batches[0] !== undefined ? batches[0] : Buffer.concat(batches);
  return { bytes, ...parseMetadata(key, bytes) };
}

/** The types of specification 2.2. */
const schema = z.object({
  libraryName: z.string().nullish(),
  libraryOwner: z.string().nullish(),
  lastModified: z.string().nullish(),
  fileSize: z.string().nullish(),
  packageName: z.string().nullish(),
  packageVersion: z.string().nullish(),
  description: z.string().nullish(),
});

const FIELD_NAMES = Object.keys(METADATA_FIELDS) as readonly MetadataField[];
const BOM = "\ufeff";
const TRUNCATED = "the answer ends in the middle of its JSON";

/**
 * Parses a complete metadata response.
 * @throws MalformedJson and UntrustedResponse
 */
export function parseMetadata(key: LibraryKey, bytes: Buffer): ParsedMetadata {
  const text = decode(bytes);
  const unmarked = text.startsWith(BOM) ? text.slice(BOM.length) : text;
  const object = parse(unmarked);
  // The text is valid JSON, so `trim` removes nothing but JSON's own white space.
  const source = unmarked.trim();
  if (!isJsonObject(object)) throw notMetadata(source);
  if (!hasAnyField(object, METADATA_FIELDS)) {
    throw new UntrustedResponse("an object without any field of library metadata");
  }
  if (isPlaceholder(object, METADATA_FIELDS)) throw new UntrustedResponse(`an object of placeholders: ${MOCK_ADVICE}`);
  const reject = (error: ItemError) => ({ metadata: null, rejects: [rejectItem(key, "metadata", error, source)] });
  const unstorable = findUnstorable(source, object);
  if (unstorable !== null) return reject(unstorable);
  const checked = schema.safeParse(object);
  if (!checked.success) return reject(wrongField(object, String(checked.error.issues[0]?.path[0]), "string"));
  return { metadata: toMetadata(checked.data, object, source), rejects: [] };
}

function decode(bytes: Buffer): string {
  if (isCutSequence(bytes, firstBadByte(bytes))) throw new MalformedJson(TRUNCATED, "truncated");
  return decodeUtf8(bytes, 0);
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

function toMetadata(fields: z.infer<typeof schema>, object: JsonObject, source: string): Metadata {
  return {
    libraryName: fields.libraryName ?? null,
    libraryOwner: fields.libraryOwner ?? null,
    lastModified: fields.lastModified ?? null,
    fileSize: fields.fileSize ?? null,
    packageName: fields.packageName ?? null,
    packageVersion: fields.packageVersion ?? null,
    description: fields.description ?? null,
    absent: FIELD_NAMES.filter((name) => !Object.hasOwn(object, name)),
    source,
  };
}

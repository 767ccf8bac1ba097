import { z } from "zod";
import type { LibraryKey, Metadata, MetadataField, Reject } from "../../model.ts";
import { beginItem, openItem, scanItem } from "../json/json-item.ts";
import { MalformedJson } from "../json/malformed-json.ts";
import { decodeUtf8, firstBadByte, isCutSequence } from "../json/utf8.ts";
import { UntrustedAnswer } from "../untrusted-answer.ts";
import { type Fault, rejectItem, wrongField } from "./fault.ts";
import { HEAD, nameAnswer } from "./name-answer.ts";
import { isPlaceholder, MOCK_ADVICE } from "./placeholders.ts";
import { hasAnyField, isJsonObject, type JsonObject, METADATA_FIELDS } from "./specification.ts";
import { findUnstorable } from "./storable.ts";

/** Types alone (specification 2.2). */
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
const CUT = "the answer ends in the middle of its JSON";

function isUnfinished(text: string): boolean {
  const bytes = Buffer.from(text);
  const state = openItem();
  beginItem(state, bytes[0] ?? 0);
  return !state.bare && scanItem(state, bytes, 0) === -1;
}

function decode(bytes: Buffer): string {
  if (isCutSequence(bytes, firstBadByte(bytes))) throw new MalformedJson(CUT, "truncated");
  return decodeUtf8(bytes, 0);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the payload.
    const source = text.trim();
    if (source === "") throw new MalformedJson("an empty answer", "empty");
    if (isUnfinished(source)) throw new MalformedJson(CUT, "truncated");
    if (/^[[{"]/.test(source)) throw new MalformedJson("not well-formed JSON");
    throw new UntrustedAnswer(`${nameAnswer(Buffer.from(source.slice(0, HEAD)))} where library metadata belongs`);
  }
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

/** Reads a library's metadata (specification 4.2), a complete answer. Throws MalformedJson and UntrustedAnswer. */
export function readMetadata(key: LibraryKey, bytes: Uint8Array): { metadata: Metadata | null; rejects: Reject[] } {
  const text = decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const unmarked = text.startsWith(BOM) ? text.slice(BOM.length) : text;
  const object = parse(unmarked);
  // What JSON.parse took has nothing but JSON's white space around it.
  const source = unmarked.trim();
  if (!isJsonObject(object)) {
    throw new UntrustedAnswer(`${nameAnswer(Buffer.from(source.slice(0, HEAD)))} where library metadata belongs`);
  }
  if (!hasAnyField(object, METADATA_FIELDS)) {
    throw new UntrustedAnswer("an object without any field of library metadata");
  }
  if (isPlaceholder(object, METADATA_FIELDS)) throw new UntrustedAnswer(`an object of placeholders: ${MOCK_ADVICE}`);
  const refuse = (fault: Fault) => ({ metadata: null, rejects: [rejectItem(key, "metadata", fault, source)] });
  const unstorable = findUnstorable(source, object);
  if (unstorable !== null) return refuse(unstorable);
  const checked = schema.safeParse(object);
  if (!checked.success) return refuse(wrongField(object, String(checked.error.issues[0]?.path[0]), "string"));
  return { metadata: toMetadata(checked.data, object, source), rejects: [] };
}

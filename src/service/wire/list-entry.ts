import type { FieldValues, LIST_FIELDS, LibraryKey, ListedLibrary } from "../../model.ts";
import { type ItemError, type JsonObject, wrongField } from "./specification.ts";
import { findUnstorable, isBadText } from "./storable.ts";

/** The most bytes of both parts of a key: a Postgres index entry has no room for more. */
const MAX_KEY_BYTES = 2600;

function readPart(entry: JsonObject, field: "libraryName" | "uploadUser"): string | ItemError {
  const value = entry[field];
  if (typeof value !== "string") return wrongField(entry, field, "string");
  if (value === "") return { code: "unaddressable", path: field, reason: `${field} is empty` };
  if (!isBadText(value)) return value;
  return { code: "bad_text", path: field, reason: `${field} holds a NUL or half of a surrogate pair` };
}

/** Whether an entry whose key has this error may be a stored library. No stored key has an empty part or such a text. */
export function mayBeStored({ code }: ItemError): boolean {
  return code !== "unaddressable" && code !== "bad_text";
}

/** The entry's key, byte for byte (specification 2.1), or why it cannot be read: an error of a key that is never stored first. */
export function readKey(entry: JsonObject, defaultOwner: string | null): LibraryKey | ItemError {
  const name = readPart(entry, "libraryName");
  const owner =
    defaultOwner !== null && (entry.uploadUser ?? null) === null ? defaultOwner : readPart(entry, "uploadUser");
  if (typeof name === "string") return typeof owner === "string" ? { owner, name } : owner;
  return typeof owner === "string" || mayBeStored(owner) ? name : owner;
}

/** Why a key cannot be requested or stored; null for nearly all keys. */
export function findUnaddressable(key: LibraryKey): ItemError | null {
  for (const [path, part] of [
    ["uploadUser", key.owner],
    ["libraryName", key.name],
  ] as const) {
    if (part === "." || part === "..") {
      return { code: "unaddressable", path, reason: `${path} is a dot segment, which no URL keeps` };
    }
  }
  // One UTF-16 code unit takes at most three bytes of UTF-8.
  if ((key.owner.length + key.name.length) * 3 <= MAX_KEY_BYTES) return null;
  const bytes = Buffer.byteLength(key.owner) + Buffer.byteLength(key.name);
  if (bytes <= MAX_KEY_BYTES) return null;
  const reason = `owner and name have ${bytes} bytes, ${MAX_KEY_BYTES} are the most`;
  return { code: "unaddressable", path: "", reason };
}

/** An entry without its key. */
export interface EntryContent {
  readonly lastModified: string | null;
  /** Null if the entry can be stored. */
  readonly error: ItemError | null;
}

/** `prechecked` is the result of `needsNoCheck` for a chunk that contains the entry. */
export function readEntryContent(entry: JsonObject, source: string, prechecked: boolean): EntryContent {
  const error = findUnstorable(source, entry, prechecked);
  if (error !== null) return { lastModified: null, error };
  const { lastModified = null } = entry;
  if (lastModified === null || typeof lastModified === "string") return { lastModified, error: null };
  return { lastModified: null, error: wrongField(entry, "lastModified", "string") };
}

type CheckedEntry = Partial<FieldValues<typeof LIST_FIELDS>> & { readonly libraryName: string };

/** Parses the source text of an entry that was checked before. */
export function parseCheckedEntry(source: string, defaultOwner: string | null): ListedLibrary {
  const { libraryName, uploadUser, lastModified = null }: CheckedEntry = JSON.parse(source);
  return { key: { owner: uploadUser ?? defaultOwner ?? "", name: libraryName }, lastModified, source };
}

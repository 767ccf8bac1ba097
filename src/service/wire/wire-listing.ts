import {
  type FieldValues,
  LIST_FIELDS,
  type LibraryKey,
  type ListedLibrary,
  MAX_KEY_BYTES,
  type Reject,
} from "../../model.ts";
import { createListingStore } from "../../off-heap.ts";
import {
  createListCheck,
  type ItemError,
  isJsonObject,
  type JsonObject,
  notAnObject,
  wrongField,
} from "./item-checks.ts";
import { type ByteSource, createArraySplitter, type ListItem } from "./json-array.ts";
import { findUnstorable, isBadText, jsonEqual } from "./storable-json.ts";

/** Whether the entry of this library is kept; of all others only a hash is. */
export type KeyFilter = (key: LibraryKey) => boolean;

const OTHER_ENTRY: ItemError = {
  code: "contradiction",
  path: "",
  reason: "another entry of the listing has the same uploadUser and libraryName and says something else",
};

/** An entry without a readable key may be any stored library, so the listing does not show what is missing. */
function explainIncomplete(unread: number, ownerless: number): string | null {
  if (unread === 0) return null;
  const entries = unread === 1 ? "1 entry of the listing names" : `${unread} entries of the listing name`;
  const why = `${entries} no library that could be read`;
  if (ownerless === 0) return why;
  const which = ownerless === unread ? "" : `${ownerless} of them `;
  return `${why}, ${which}for want of uploadUser: set SIMCAT_DEFAULT_OWNER to the owner of such entries`;
}

/**
 * Reads the listing (specification 4.1) while it arrives.
 * @throws InvalidResponse
 */
export async function readListing(body: ByteSource, defaultOwner: string | null, isKept: KeyFilter = () => true) {
  const libraries = createListingStore((source) => parseCheckedEntry(source, defaultOwner));
  const rejects: Reject[] = [];
  const check = createListCheck(LIST_FIELDS, "library");
  let unread = 0;
  let ownerless = 0;
  let repeated = 0;

  function reject(key: LibraryKey | null, error: ItemError, source: string): void {
    rejects.push({ key, kind: "listing", ...error, payload: source });
  }

  function addAddressed(key: LibraryKey, { lastModified, error }: EntryContent, source: string): void {
    const index = libraries.find(key);
    if (index === undefined) {
      libraries.add({ key, lastModified, source: error === null ? source : null });
      if (error !== null) reject(key, error, source);
      return;
    }
    const earlier = libraries.at(index);
    if (error === null && earlier.source !== null && jsonEqual(earlier.source, source)) {
      repeated++;
      return;
    }
    if (earlier.source !== null) reject(key, OTHER_ENTRY, earlier.source);
    reject(key, error ?? OTHER_ENTRY, source);
    const isSameDate = lastModified === earlier.lastModified;
    libraries.replace(index, { key, lastModified: isSameDate ? lastModified : null, source: null });
  }

  function add({ source, value: entry, isPlain }: ListItem): void {
    check.add(entry);
    const key = isJsonObject(entry) ? readKey(entry, defaultOwner) : notAnObject(entry);
    if (isJsonObject(entry) && "owner" in key) {
      const unaddressable = findUnaddressable(key);
      if (unaddressable !== null) reject(key, unaddressable, source);
      else if (!isKept(key)) libraries.addElsewhere(key);
      else addAddressed(key, readEntryContent(entry, source, isPlain), source);
    } else if ("code" in key) {
      if (mayBeStored(key)) unread++;
      if (key.path === "uploadUser" && key.code === "missing_field") ownerless++;
      reject(null, key, source);
    }
  }

  const splitter = createArraySplitter();
  for (let bytes = await body.read(); bytes !== null; bytes = await body.read()) splitter.push(bytes).forEach(add);
  splitter.end();
  check.finish();
  return { libraries, rejects, incomplete: explainIncomplete(unread, ownerless), repeated };
}

function readPart(entry: JsonObject, field: "libraryName" | "uploadUser"): string | ItemError {
  const value = entry[field];
  if (typeof value !== "string") return wrongField(entry, field, "string");
  if (value === "") return { code: "unaddressable", path: field, reason: `${field} is empty` };
  if (!isBadText(value)) return value;
  return { code: "bad_text", path: field, reason: `${field} holds a NUL or half of a surrogate pair` };
}

/** Whether an entry whose key has this error may be a stored library. Stored keys have no empty part and no unstorable text. */
function mayBeStored({ code }: ItemError): boolean {
  return code !== "unaddressable" && code !== "bad_text";
}

/** The entry's key, byte for byte (specification 2.1), or its error. Of two errors, one that no stored key has is preferred. */
function readKey(entry: JsonObject, defaultOwner: string | null): LibraryKey | ItemError {
  const name = readPart(entry, "libraryName");
  const owner =
    defaultOwner !== null && (entry.uploadUser ?? null) === null ? defaultOwner : readPart(entry, "uploadUser");
  if (typeof name === "string") return typeof owner === "string" ? { owner, name } : owner;
  return typeof owner === "string" || mayBeStored(owner) ? name : owner;
}

/** Why a key cannot be requested or stored; null for nearly all keys. */
function findUnaddressable(key: LibraryKey): ItemError | null {
  const isDots = (part: string) => part === "." || part === "..";
  if (isDots(key.owner) || isDots(key.name)) {
    const path = isDots(key.owner) ? "uploadUser" : "libraryName";
    return { code: "unaddressable", path, reason: `${path} is a dot segment, which no URL keeps` };
  }
  // One UTF-16 code unit takes at most three bytes of UTF-8.
  if ((key.owner.length + key.name.length) * 3 <= MAX_KEY_BYTES) return null;
  const bytes = Buffer.byteLength(key.owner) + Buffer.byteLength(key.name);
  if (bytes <= MAX_KEY_BYTES) return null;
  const reason = `owner and name have ${bytes} bytes, ${MAX_KEY_BYTES} are the most`;
  return { code: "unaddressable", path: "", reason };
}

type EntryContent = ReturnType<typeof readEntryContent>;

/** Reads an entry without its key. `error` is null if the entry can be stored. */
function readEntryContent(entry: JsonObject, source: string, isPlain: boolean) {
  const error = findUnstorable(source, entry, isPlain);
  if (error !== null) return { lastModified: null, error };
  const { lastModified = null } = entry;
  if (lastModified === null || typeof lastModified === "string") return { lastModified, error: null };
  return { lastModified: null, error: wrongField(entry, "lastModified", "string") };
}

type CheckedEntry = Partial<FieldValues<typeof LIST_FIELDS>> & { readonly libraryName: string };

/** Parses the source text of an entry that was checked before. */
function parseCheckedEntry(source: string, defaultOwner: string | null): ListedLibrary {
  const { libraryName, uploadUser, lastModified = null }: CheckedEntry = JSON.parse(source);
  return { key: { owner: uploadUser ?? defaultOwner ?? "", name: libraryName }, lastModified, source };
}

import { LIST_FIELDS, type LibraryKey, type ListedLibrary, type Listing, type Reject } from "../../model.ts";
import { createListingStore } from "../../off-heap/listing-store.ts";
import { jsonEqual } from "../json/exact-json.ts";
import { UntrustedResponse } from "../json/parse-errors.ts";
import { type ByteSource, createArraySplitter, type ListItem } from "./json-array.ts";
import {
  type EntryContent,
  findUnaddressable,
  mayBeStored,
  parseCheckedEntry,
  readEntryContent,
  readKey,
} from "./list-entry.ts";
import {
  hasAnyField,
  type ItemError,
  isJsonObject,
  isPlaceholder,
  type JsonObject,
  MOCK_ADVICE,
  notAnObject,
  rejectItem,
} from "./specification.ts";

/** Whether the entry of this library is kept; of all others only a hash is. */
export type KeyFilter = (key: LibraryKey) => boolean;

/** The listing without what only its response shows. */
type ParsedListing = Omit<Listing, "startedAt" | "cachedMs" | "date">;

/**
 * Reads the listing (specification 4.1) while it arrives.
 * @throws MalformedJson and UntrustedResponse
 */
export async function readListing(
  body: ByteSource,
  defaultOwner: string | null,
  isKept?: KeyFilter,
): Promise<ParsedListing> {
  const splitter = createArraySplitter();
  const reader = createListingReader(defaultOwner, isKept);
  for (let bytes = await body.read(); bytes !== null; bytes = await body.read()) {
    reader.add(splitter.push(bytes), splitter.prechecked());
  }
  splitter.end();
  return reader.finish();
}

interface ListingReader {
  /** `prechecked` is the splitter's. */
  add(items: readonly ListItem[], prechecked?: boolean): void;
  /** @throws UntrustedResponse if the list cannot be the service's */
  finish(): ParsedListing;
}

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
  return `${why}, ${ownerless} of them for want of uploadUser: set SIMCAT_DEFAULT_OWNER to the owner of such entries`;
}

export function createListingReader(defaultOwner: string | null, isKept: KeyFilter = () => true): ListingReader {
  const libraries = createListingStore((source) => parseCheckedEntry(source, defaultOwner));
  /** The texts of all entries of libraries of which an entry was rejected, by the library's index. */
  const disputed = new Map<number, Set<string>>();
  const rejects: Reject[] = [];
  let entries = 0;
  let placeholders = 0;
  let hasKnownField = false;
  let unread = 0;
  let ownerless = 0;
  let repeated = 0;

  function reject(key: LibraryKey | null, error: ItemError, source: string): void {
    rejects.push(rejectItem(key, "listing", error, source));
  }

  /** Rejects an entry that may be any stored library. */
  function rejectUnread(error: ItemError, source: string): void {
    unread++;
    if (error.path === "uploadUser" && error.code === "missing_field") ownerless++;
    reject(null, error, source);
  }

  function addNew(key: LibraryKey, content: EntryContent, source: string): void {
    const index = libraries.length;
    const { lastModified, error } = content;
    libraries.add({ key, lastModified, source });
    if (error === null) return;
    libraries.replace(index, { key, lastModified, source: null });
    disputed.set(index, new Set([source]));
    reject(key, error, source);
  }

  function addRepeated(index: number, earlier: ListedLibrary, content: EntryContent, source: string): void {
    const texts = disputed.get(index) ?? new Set<string>();
    const isSame = earlier.source === null ? texts.has(source) : jsonEqual(earlier.source, source);
    if (isSame) {
      repeated++;
      return;
    }
    if (earlier.source !== null) {
      texts.add(earlier.source);
      reject(earlier.key, OTHER_ENTRY, earlier.source);
    }
    disputed.set(index, texts.add(source));
    reject(earlier.key, content.error ?? OTHER_ENTRY, source);
    const lastModified = content.lastModified === earlier.lastModified ? earlier.lastModified : null;
    libraries.replace(index, { key: earlier.key, lastModified, source: null });
  }

  function addAddressed(key: LibraryKey, entry: JsonObject, source: string, prechecked: boolean): void {
    const unaddressable = findUnaddressable(key);
    if (unaddressable !== null) {
      reject(key, unaddressable, source);
      return;
    }
    if (!isKept(key)) {
      libraries.addElsewhere(key);
      return;
    }
    const content = readEntryContent(entry, source, prechecked);
    const index = libraries.find(key);
    if (index === undefined) addNew(key, content, source);
    else addRepeated(index, libraries.at(index), content, source);
  }

  function addEntry({ source, value: entry }: ListItem, prechecked: boolean): void {
    entries++;
    hasKnownField ||= entry === undefined;
    if (!isJsonObject(entry)) {
      rejectUnread(notAnObject(entry), source);
      return;
    }
    hasKnownField ||= hasAnyField(entry, LIST_FIELDS);
    if (placeholders === entries - 1 && isPlaceholder(entry, LIST_FIELDS)) placeholders++;
    const key = readKey(entry, defaultOwner);
    if ("owner" in key) addAddressed(key, entry, source, prechecked);
    else if (mayBeStored(key)) rejectUnread(key, source);
    else reject(null, key, source);
  }

  function finish(): ParsedListing {
    if (entries > 0 && placeholders === entries) {
      throw new UntrustedResponse(`a listing of placeholders: ${MOCK_ADVICE}`);
    }
    if (entries > 0 && !hasKnownField) {
      throw new UntrustedResponse(
        `a list of ${entries === 1 ? "1 entry" : `${entries} entries`} without one field of a library`,
      );
    }
    return { libraries, rejects, incomplete: explainIncomplete(unread, ownerless), repeated };
  }

  return {
    add(items, prechecked = false) {
      for (const item of items) addEntry(item, prechecked);
    },
    finish,
  };
}

import type { LibraryKey, ListedLibraries, ListedLibrary, Reject } from "../../model.ts";
import { UntrustedAnswer } from "../untrusted-answer.ts";
import { type Fault, notAnObject, rejectItem } from "./fault.ts";
import type { ListItem } from "./json-array.ts";
import { type EntryContent, findUnaddressable, readAgain, readContent, readKey } from "./list-entry.ts";
import { openShelf } from "./listed-libraries.ts";
import { isPlaceholder, MOCK_ADVICE } from "./placeholders.ts";
import { saySame } from "./same-content.ts";
import { hasAnyField, isJsonObject, type JsonObject, LIST_FIELDS } from "./specification.ts";

export interface ListingReader {
  /** `plain` as the splitter says it. */
  add(items: readonly ListItem[], plain?: boolean): void;
  /** Throws UntrustedAnswer when the whole cannot be the service's. */
  finish(): { libraries: ListedLibraries; rejects: Reject[]; incomplete: string | null; repeated: number };
}

const CONTRADICTION: Fault = {
  code: "contradiction",
  path: "",
  reason: "another entry of the listing has the same uploadUser and libraryName and says something else",
};

/** Why nothing may be concluded from what the listing lacks: an entry whose identity nobody could read may be it. */
function explainIncomplete(unread: number, ownerless: number): string | null {
  if (unread === 0) return null;
  const entries = unread === 1 ? "1 entry of the listing names" : `${unread} entries of the listing name`;
  const why = `${entries} no library that could be read`;
  if (ownerless === 0) return why;
  return `${why}, ${ownerless} of them for want of uploadUser: set SIMCAT_DEFAULT_OWNER to the owner of such entries`;
}

/** Reads the listing (specification 4.1), entry by entry. */
export function readListing(defaultOwner: string | null): ListingReader {
  const libraries = openShelf((source) => readAgain(source, defaultOwner));
  /** The texts of each library of which an entry was rejected, by its index. */
  const disputed = new Map<number, Set<string>>();
  const rejects: Reject[] = [];
  let entries = 0;
  let placeholders = 0;
  let recognized = false;
  let unread = 0;
  let ownerless = 0;
  let repeated = 0;

  function refuse(key: LibraryKey | null, fault: Fault, source: string): void {
    rejects.push(rejectItem(key, "listing", fault, source));
  }

  function refuseUnread(fault: Fault, source: string): void {
    unread++;
    if (fault.path === "uploadUser" && fault.code === "missing_field") ownerless++;
    refuse(null, fault, source);
  }

  function takeNew(key: LibraryKey, content: EntryContent, source: string): void {
    const at = libraries.length;
    const { lastModified, fault } = content;
    libraries.add({ key, lastModified, source });
    if (fault === null) return;
    libraries.replace(at, { key, lastModified, source: null });
    disputed.set(at, new Set([source]));
    refuse(key, fault, source);
  }

  function takeRepeated(at: number, earlier: ListedLibrary, content: EntryContent, source: string): void {
    const texts = disputed.get(at) ?? new Set<string>();
    const isSame = earlier.source === null ? texts.has(source) : saySame(earlier.source, source);
    if (isSame) {
      repeated++;
      return;
    }
    if (earlier.source !== null) {
      texts.add(earlier.source);
      refuse(earlier.key, CONTRADICTION, earlier.source);
    }
    disputed.set(at, texts.add(source));
    refuse(earlier.key, content.fault ?? CONTRADICTION, source);
    const lastModified = content.lastModified === earlier.lastModified ? earlier.lastModified : null;
    libraries.replace(at, { key: earlier.key, lastModified, source: null });
  }

  function take({ source, value: entry }: ListItem, plain: boolean): void {
    entries++;
    if (!isJsonObject(entry)) {
      refuseUnread(notAnObject(entry), source);
      return;
    }
    recognized ||= hasAnyField(entry, LIST_FIELDS);
    if (placeholders === entries - 1 && isPlaceholder(entry, LIST_FIELDS)) placeholders++;
    const key = readKey(entry, defaultOwner);
    if ("owner" in key) takeNamed(key, entry, source, plain);
    else refuseUnread(key, source);
  }

  function takeNamed(key: LibraryKey, entry: JsonObject, source: string, plain: boolean): void {
    const unaddressable = findUnaddressable(key);
    if (unaddressable !== null) {
      refuse(key, unaddressable, source);
      return;
    }
    const content = readContent(entry, source, plain);
    const at = libraries.find(key);
    if (at === undefined) takeNew(key, content, source);
    else takeRepeated(at, libraries.at(at), content, source);
  }

  function add(items: readonly ListItem[], plain = false): void {
    for (const item of items) take(item, plain);
  }

  function finish(): { libraries: ListedLibraries; rejects: Reject[]; incomplete: string | null; repeated: number } {
    if (entries > 0 && placeholders === entries) {
      throw new UntrustedAnswer(`a listing of placeholders: ${MOCK_ADVICE}`);
    }
    if (entries > 0 && !recognized) {
      throw new UntrustedAnswer(`a list of ${entries} entries without one field of a library`);
    }
    return { libraries, rejects, incomplete: explainIncomplete(unread, ownerless), repeated };
  }

  return { add, finish };
}

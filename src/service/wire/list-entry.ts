import { z } from "zod";
import type { LibraryKey, ListedLibrary } from "../../model.ts";
import { type Fault, wrongField } from "./fault.ts";
import type { JsonObject } from "./specification.ts";
import { findUnstorable } from "./storable.ts";
import { isBadText } from "./text-check.ts";

/** What is left of specification 2.1 once the identity is read. */
const schema = z.object({ lastModified: z.string().nullish() });

/** A key's two parts together, in bytes: Postgres has no room for more in an index entry. */
const LONGEST_KEY = 2600;

/** One part of an entry's identity as it stands, or why it cannot be read. */
function readPart(entry: JsonObject, field: "libraryName" | "uploadUser"): string | Fault {
  const value = entry[field];
  if (typeof value !== "string") return wrongField(entry, field, "string");
  if (value === "") return { code: "unaddressable", path: field, reason: `${field} is empty` };
  if (!isBadText(value)) return value;
  return { code: "bad_text", path: field, reason: `${field} holds a NUL or half of a surrogate pair` };
}

/** Who the entry is (specification 2.1), byte for byte, or why that cannot be read. */
export function readKey(entry: JsonObject, defaultOwner: string | null): LibraryKey | Fault {
  const name = readPart(entry, "libraryName");
  if (typeof name !== "string") return name;
  const owner =
    defaultOwner !== null && (entry.uploadUser ?? null) === null ? defaultOwner : readPart(entry, "uploadUser");
  if (typeof owner !== "string") return owner;
  return { owner, name };
}

/** Why a key that could be read names nothing that can be asked for or stored; null for nearly all. */
export function findUnaddressable(key: LibraryKey): Fault | null {
  for (const [path, part] of [
    ["uploadUser", key.owner],
    ["libraryName", key.name],
  ] as const) {
    if (part === "." || part === "..") {
      return { code: "unaddressable", path, reason: `${path} is a dot segment, which no URL keeps` };
    }
  }
  // A UTF-16 code unit is three bytes at the most.
  if ((key.owner.length + key.name.length) * 3 <= LONGEST_KEY) return null;
  const bytes = Buffer.byteLength(key.owner) + Buffer.byteLength(key.name);
  if (bytes <= LONGEST_KEY) return null;
  return { code: "unaddressable", path: "", reason: `owner and name have ${bytes} bytes, ${LONGEST_KEY} are the most` };
}

/** What an entry beyond its identity says. */
export interface EntryContent {
  readonly lastModified: string | null;
  /** Null when the entry can be stored. */
  readonly fault: Fault | null;
}

/** `plain`: what `isPlain` said of a text around the entry. */
export function readContent(entry: JsonObject, source: string, plain: boolean): EntryContent {
  const fault = findUnstorable(source, entry, plain);
  if (fault !== null) return { lastModified: null, fault };
  const checked = schema.safeParse(entry);
  if (!checked.success) return { lastModified: null, fault: wrongField(entry, "lastModified", "string") };
  return { lastModified: checked.data.lastModified ?? null, fault: null };
}

interface FitEntry {
  readonly libraryName: string;
  readonly uploadUser?: string | null;
  readonly lastModified?: string | null;
}

/** An entry that was read before and found fit to store, from its source text. */
export function readAgain(source: string, defaultOwner: string | null): ListedLibrary {
  const { libraryName, uploadUser, lastModified = null }: FitEntry = JSON.parse(source);
  return { key: { owner: uploadUser ?? defaultOwner ?? "", name: libraryName }, lastModified, source };
}

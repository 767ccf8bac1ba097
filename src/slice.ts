import { hash } from "node:crypto";
import type { LibraryKey } from "./model.ts";

/** One of `count` parts of the organization. */
export interface Slice {
  /** From 1. */
  readonly index: number;
  readonly count: number;
}

export const formatSlice = ({ index, count }: Slice): string => `${index}/${count}`;

/** Whether the slice has this library. By the whole key, because one owner may have most of the libraries. */
export function isInSlice({ index, count }: Slice, { owner, name }: LibraryKey): boolean {
  return hash("sha256", `${owner}\x1f${name}`, "buffer").readUInt16BE() % count === index - 1;
}

const DIGEST = "sha256(convert_to(owner || E'\\x1f' || library_name, 'UTF8'))";

/** The same hash in SQL, of the columns `owner` and `library_name`. */
export const SLICE_HASH_SQL = `(get_byte(${DIGEST}, 0) * 256 + get_byte(${DIGEST}, 1))`;

/** Whether a library is in a slice, as an SQL condition on the hash of its key; `slice` is SQL for a text such as 3/8. */
export const isInSliceSql = (slice: string, hash = SLICE_HASH_SQL): string =>
  `${hash} % split_part(${slice}, '/', 2)::int + 1 = split_part(${slice}, '/', 1)::int`;

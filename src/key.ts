import { UsageError } from "./errors.ts";
import { hashKey } from "./hash.ts";
import type { LibraryKey } from "./model.ts";
import { HOSTILE, printable } from "./printable.ts";

/** A key as one string, for maps. No addressable key holds a NUL, so two keys never share a text. */
export function keyText(key: LibraryKey): string {
  return `${key.owner}\0${key.name}`;
}

/** `OWNER/NAME` as people read and type it: only `%`, `/` and what could act in a terminal is percent-encoded. */
export function formatKey(key: LibraryKey): string {
  return `${formatPart(key.owner)}/${formatPart(key.name)}`;
}

/** Whether the text can be shown and typed as it is. */
export function isTypeable(text: string): boolean {
  return printable(text) === text;
}

/** The text as one word of a shell, whatever characters it has. */
export function shellWord(text: string): string {
  return /^[\w.,:@%+/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The inverse of `formatKey`; throws a UsageError for what is no `OWNER/NAME`. */
export function parseKey(text: string): LibraryKey {
  const [owner, name, ...more] = text.split("/").map(parsePart);
  if (!owner || !name || more.length > 0) {
    throw new UsageError(`${JSON.stringify(text)} names no library`, {
      hint: 'write OWNER/NAME, in each part % as %25 and / as %2F, such as "example.user/Q1%2FQ2 50%25 done"',
    });
  }
  return { owner, name };
}

/** A library as people name it: `OWNER/NAME`, or only `NAME`, which leaves the owner empty until `assertKnown` finds it. */
export function parseSelector(text: string): LibraryKey {
  const name = text.includes("/") ? null : parsePart(text);
  return name ? { owner: "", name } : parseKey(text);
}

/** The inverse of `parseSelector`. No library that can be selected has an empty owner. */
export function formatSelector(key: LibraryKey): string {
  return formatKey(key).replace(/^\//, "");
}

/** A number from 0 up to 1, evenly distributed over keys and the same on every machine. */
export function spreadOf(key: LibraryKey): number {
  return hashKey(key) / 2 ** 32;
}

const ENCODED = new RegExp(`[%/${HOSTILE}]`, "gu");

function formatPart(part: string): string {
  return part.replace(ENCODED, encodeURIComponent);
}

/** The inverse of `formatPart`. Null for what cannot be decoded, or decodes to a NUL, which no library and no Postgres text can hold. */
export function parsePart(part: string): string | null {
  try {
    const decoded = decodeURIComponent(part);
    return decoded.includes("\0") ? null : decoded;
  } catch {
    return null;
  }
}

import { hash } from "node:crypto";
import { COLUMN_SIGNATURE } from "../db/store/columns.ts";
import type { ListedLibrary, ReceivedContent } from "../model.ts";

/** Raise this if the same text is parsed to another value than before, so that stored rows are compared again. */
const PARSERS = 1;

/** Earlier versions of simcat numbered their hashes by hand. Number 2 is the version of the fields and parsers with this digest. */
const NUMBERED: Readonly<Record<string, number>> = { IhdRwtUrStVf: 2 };

/**
 * Part of every content hash. It changes with the stored fields, so after a field is added the next read of each library
 * compares its rows, whatever its stored hash is.
 */
export function hashVersion(fields: readonly string[]): number | string {
  const digest = hash("sha256", JSON.stringify([PARSERS, fields]), "base64url").slice(0, 12);
  return NUMBERED[digest] ?? digest;
}

const HASH_VERSION = hashVersion(COLUMN_SIGNATURE);

/** Equal for two reads of a library only if both store the same rows. Base64url. */
export function hashContent(
  { source }: ListedLibrary,
  { digest }: Pick<ReceivedContent, "digest">,
  serviceTimezone: string,
): string {
  return hash("sha256", JSON.stringify([HASH_VERSION, serviceTimezone, source, digest]), "base64url");
}

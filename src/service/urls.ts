import type { LibraryKey } from "../model.ts";

const percentEncode = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

/** Percent-encodes one path segment by RFC 3986, so that decoding it returns the exact name. */
export function encodeSegment(text: string): string {
  return /^[\w.~-]*$/.test(text) ? text : encodeURIComponent(text).replace(/[!'()*]/g, percentEncode);
}

/** The path of the base URL without a trailing slash, so that `/v1` and `/v1/` are the same. */
export function basePath(base: URL): string {
  return base.pathname.replace(/\/+$/, "");
}

/** The path of specification 4.1. */
export function listingPath(base: string): string {
  return `${base}/libs`;
}

export interface ContentPaths {
  /** The common part of the other two. */
  readonly library: string;
  readonly metadata: string;
  readonly scenarios: string;
}

/** The paths of specification 4.2 and 4.3. */
export function contentPaths(base: string, { owner, name }: LibraryKey): ContentPaths {
  const library = `${base}/libs/user/${encodeSegment(owner)}/${encodeSegment(name)}`;
  return { library, metadata: `${library}/metadata`, scenarios: `${library}/scenarios` };
}

import type { LibraryKey } from "../model.ts";

const toHex = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

/** Percent-encodes one path segment, strictly by RFC 3986: decoding what is sent gives back the exact name. */
export function encodeSegment(text: string): string {
  return /^[\w.~-]*$/.test(text) ? text : encodeURIComponent(text).replace(/[!'()*]/g, toHex);
}

/** The base's own path without its trailing slash, so that `/v1` and `/v1/` ask for the same. */
export function basePath(base: URL): string {
  return base.pathname.replace(/\/+$/, "");
}

/** Specification 4.1. */
export function listingPath(base: string): string {
  return `${base}/libs`;
}

export interface ContentPaths {
  /** What the two have in common. */
  readonly library: string;
  readonly metadata: string;
  readonly scenarios: string;
}

/** Specification 4.2 and 4.3. */
export function contentPaths(base: string, { owner, name }: LibraryKey): ContentPaths {
  const library = `${base}/libs/user/${encodeSegment(owner)}/${encodeSegment(name)}`;
  return { library, metadata: `${library}/metadata`, scenarios: `${library}/scenarios` };
}

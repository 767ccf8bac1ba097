import type { LibraryKey } from "../../src/model.ts";

/** The two requests that a library's content takes. */
export function contentPaths(keys: readonly LibraryKey[]): string[] {
  return keys.flatMap(({ owner, name }) => {
    const library = `/libs/user/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
    return [`${library}/metadata`, `${library}/scenarios`];
  });
}

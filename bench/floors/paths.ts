import type { LibraryKey } from "../../src/model.ts";

/** The paths of the two requests for each library's content. */
export function contentPaths(keys: readonly LibraryKey[]): string[] {
  return keys.flatMap(({ owner, name }) => {
    const library = `/libs/user/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
    return [`${library}/metadata`, `${library}/scenarios`];
  });
}

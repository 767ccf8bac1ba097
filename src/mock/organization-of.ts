import type { MockLibrary, Organization } from "./nouns.ts";

/** The length marks the end of the owner, whatever characters the two names contain. */
const keyOf = (owner: string, name: string): string => `${owner.length}:${owner}${name}`;

/** An organization that has exactly these libraries. */
export function organizationOf(libraries: Iterable<MockLibrary>): Organization {
  const byKey = new Map<string, MockLibrary>();
  for (const library of libraries) byKey.set(keyOf(library.owner, library.name), library);
  let version = 1;
  let listed: readonly MockLibrary[] | null = null;
  function changed(): void {
    version += 1;
    listed = null;
  }
  return {
    removed: [],
    get size() {
      return byKey.size;
    },
    get version() {
      return version;
    },
    libraries() {
      listed ??= [...byKey.values()];
      return listed;
    },
    get: (owner, name) => byKey.get(keyOf(owner, name)),
    put(library) {
      byKey.set(keyOf(library.owner, library.name), library);
      changed();
    },
    remove(owner, name) {
      const key = keyOf(owner, name);
      const library = byKey.get(key);
      if (byKey.delete(key)) changed();
      return library;
    },
  };
}

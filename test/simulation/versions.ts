import type { Organization } from "../../src/mock/organization.ts";
import type { MockLibrary } from "../support/mock/library.ts";
import { keyOf } from "./reader.ts";

/** A library as the service had it for some time. Times are the database's, in ms since the epoch. */
interface Version {
  readonly library: MockLibrary;
  readonly from: number;
  /** Infinity while the service has it. */
  until: number;
}

/** What the service had, and when. */
export function openVersions(organization: Organization) {
  const versions = new Map<string, Version[]>();
  const listings: { readonly at: number; readonly libraries: readonly MockLibrary[] }[] = [];
  const hidden = new Set<string>();
  return {
    /** Call after each edit: a version that the service has no more ended at this time or before. */
    observe(now: number): void {
      const left = new Set(versions.keys());
      for (const library of organization.libraries()) {
        const key = keyOf(library);
        left.delete(key);
        const known = versions.get(key) ?? [];
        const last = known.at(-1);
        if (last?.until === Number.POSITIVE_INFINITY && last.library === library) continue;
        if (last?.until === Number.POSITIVE_INFINITY) last.until = now;
        versions.set(key, [...known, { library, from: now, until: Number.POSITIVE_INFINITY }]);
      }
      for (const key of left) {
        const last = versions.get(key)?.at(-1);
        if (last?.until === Number.POSITIVE_INFINITY) last.until = now;
      }
    },
    /** Every version of the library, the oldest first. */
    of: (key: string): readonly Version[] => versions.get(key) ?? [],
    keys: () => versions.keys(),
    /** Keeps the current listing, as a cache does. */
    keepListing: (at: number) => void listings.push({ at, libraries: organization.libraries() }),
    listings,
    /** A listing that the program has to accept lacked this library. */
    hide: (key: string) => void hidden.add(key),
    hidden,
  };
}

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [field: string]: Json };

/** Overrides fields of a wire object: unknown fields, wrong types; `undefined` omits the field. */
export type Fields = Readonly<Record<string, Json | undefined>>;

/** A scenario as the service has it (specification 2.3). */
export interface MockScenario {
  readonly scenarioId: number;
  readonly parentId: number | null;
  readonly scenarioName: string | null;
  readonly isResult: boolean;
  readonly lastModified: string | null;
  readonly description: string | null;
  readonly fields?: Fields;
  /** Sent instead of the whole object: integers beyond 2^53, duplicate keys, escapes that no serializer writes. */
  readonly source?: string;
}

/** A library as the service has it. A value: an edit puts another one in its place, so answers can be kept by identity. */
export interface MockLibrary {
  /** The two path segments, decoded. */
  readonly owner: string;
  readonly name: string;
  /** As the metadata names it: a user or an organization. */
  readonly libraryOwner: string;
  /** The date in the list and, unless `metadataFields` says otherwise, in the metadata. */
  readonly lastModified: string | null;
  readonly fileSize: string | null;
  readonly packageName: string | null;
  readonly packageVersion: string | null;
  readonly description: string | null;
  readonly scenarios: readonly MockScenario[];
  /** The last id that the library's sequence gave out, deleted scenarios included; absent: the highest one present. */
  readonly lastScenarioId?: number;
  /** Deleted scenarios that an edit may bring back. */
  readonly deleted?: readonly MockScenario[];
  readonly entryFields?: Fields;
  readonly metadataFields?: Fields;
  /** Source texts sent instead of the list entry, the metadata object, the whole scenario list. */
  readonly source?: { readonly entry?: string; readonly metadata?: string; readonly scenarios?: string };
}

/** Everything that the service has, in the order in which it lists it. */
export interface Organization {
  readonly size: number;
  /** Moves with each change. */
  readonly version: number;
  /** The array is the same one until the next change. */
  libraries(): readonly MockLibrary[];
  get(owner: string, name: string): MockLibrary | undefined;
  /** Adds it, or puts it in the place of the one with the same owner and name. */
  put(library: MockLibrary): void;
  remove(owner: string, name: string): MockLibrary | undefined;
  /** Libraries that an edit removed and another edit may restore. */
  readonly removed: MockLibrary[];
}

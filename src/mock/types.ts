/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [field: string]: Json };

/** Overrides fields of an object that is sent: with other values or types, or with unknown fields. `undefined` omits one. */
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
  /** JSON text sent instead of the object: for integers beyond 2^53, duplicate keys, escapes that no serializer writes. */
  readonly source?: string;
}

/** A library as the service has it (specification 2.1, 2.2). An edit replaces the object, so answers are cached by identity. */
export interface MockLibrary {
  /** The decoded path segment, as is `name`. */
  readonly owner: string;
  readonly name: string;
  /** The owner in the metadata: a user or an organization. */
  readonly libraryOwner: string;
  /** The date in the list and, unless `metadataFields` overrides it, in the metadata. */
  readonly lastModified: string | null;
  readonly fileSize: string | null;
  readonly packageName: string | null;
  readonly packageVersion: string | null;
  readonly description: string | null;
  readonly scenarios: readonly MockScenario[];
  /** The last id of the library's sequence, deleted scenarios included. Default: the highest id of `scenarios`. */
  readonly lastScenarioId?: number;
  /** Deleted scenarios, which an edit may restore. */
  readonly deleted?: readonly MockScenario[];
  readonly entryFields?: Fields;
  readonly metadataFields?: Fields;
  /** JSON texts sent instead of the list entry, the metadata object and the scenario list. */
  readonly source?: { readonly entry?: string; readonly metadata?: string; readonly scenarios?: string };
}

/** All libraries of the service, in the order of the listing. */
export interface Organization {
  readonly size: number;
  /** Increases with each change. */
  readonly version: number;
  /** Returns the same array until the next change. */
  libraries(): readonly MockLibrary[];
  get(owner: string, name: string): MockLibrary | undefined;
  /** Adds a library, or replaces the one with the same owner and name. */
  put(library: MockLibrary): void;
  remove(owner: string, name: string): MockLibrary | undefined;
  /** Libraries removed by an edit, which another edit may restore. */
  readonly removed: MockLibrary[];
}

/**
 * The fields of the service, and the types that simcat's modules share. Those of runs are in run-summary.ts.
 * Field names follow the service's specification (section 2); times are milliseconds since the epoch unless said otherwise.
 */

/** Identifies a library, byte for byte: the two path segments of its URLs (specification 4.2). */
export interface LibraryKey {
  readonly owner: string;
  readonly name: string;
}

/** A scenario's id: a `number` up to 2^53−1, a `bigint` beyond it and up to 2^63−1, so that equal ids are `===`. */
export type ScenarioId = number | bigint;

/** The most bytes of both parts of a library's key: an index entry of Postgres has no room for more. */
export const MAX_KEY_BYTES = 2_600;

/** The fields of each resource, with the type that the specification gives them (2.1 to 2.3). */
export const LIST_FIELDS = { libraryName: "string", uploadUser: "string", lastModified: "string" } as const;

export const METADATA_FIELDS = {
  libraryName: "string",
  libraryOwner: "string",
  lastModified: "string",
  fileSize: "string",
  packageName: "string",
  packageVersion: "string",
  description: "string",
} as const;

export const SCENARIO_FIELDS = {
  scenarioId: "integer",
  parentId: "integer",
  scenarioName: "string",
  isResult: "boolean",
  lastModified: "string",
  description: "string",
} as const;

interface FieldTypes {
  readonly string: string;
  readonly integer: ScenarioId;
  readonly boolean: boolean;
}

export type FieldTable = Readonly<Record<string, keyof FieldTypes>>;

/** The values of these fields as sent; null for a field that is null or absent. */
export type FieldValues<Fields extends FieldTable> = {
  readonly [Name in keyof Fields]: FieldTypes[Fields[Name]] | null;
};

/** One entry of a listing whose identity could be read (specification 2.1). */
export interface ListedLibrary {
  readonly key: LibraryKey;
  /** The date as listed; null when absent, null, of a wrong type, contradicted by a second entry of the key, or if the entry cannot be stored. */
  readonly lastModified: string | null;
  /** The entry's JSON source text; null when the entry itself was rejected, so that an earlier one is kept. */
  readonly source: string | null;
}

/** The libraries of a listing in its order, each key once. Two accesses of one library may return two equal objects. */
export interface ListedLibraries extends Iterable<ListedLibrary> {
  readonly length: number;
  /** `index` counts from zero, and is below `length`. */
  at(index: number): ListedLibrary;
  /** The index of the library of this key; undefined when it is not listed. */
  find(key: LibraryKey): number | undefined;
  /** How many other libraries are listed that are not in the run's slice. */
  readonly elsewhere: number;
  /** Whether the library is listed, in the run's slice or elsewhere. */
  has(key: LibraryKey): boolean;
}

/** The metadata of one library (specification 2.2), as sent. */
export interface Metadata extends FieldValues<typeof METADATA_FIELDS> {
  /** Specified fields that the object lacks. A field that is null is not absent. */
  readonly absent: readonly MetadataField[];
  /** JSON source text. */
  readonly source: string;
}

export type MetadataField = keyof typeof METADATA_FIELDS;

/** One scenario (specification 2.3), as sent. */
export interface Scenario extends Omit<FieldValues<typeof SCENARIO_FIELDS>, "scenarioId" | "scenarioName"> {
  readonly id: ScenarioId;
  readonly name: string | null;
  /** JSON source text. */
  readonly source: string;
}

export type RejectKind = "listing" | "metadata" | "scenario";

/** An item that the service sent and that could not be stored. */
export interface Reject {
  /** The library that it belongs to; null when that could not be read. */
  readonly key: LibraryKey | null;
  readonly kind: RejectKind;
  /** Stable, snake_case: `wrong_type`, `missing_field`, `bad_text`, `out_of_range`, `contradiction`, `unaddressable`, … */
  readonly code: string;
  /** Where in the item, such as `lastModified`; empty for the whole of it. */
  readonly path: string;
  /** One sentence for people. Never holds the payload. */
  readonly reason: string;
  /** The item's source text, cut to 64 KiB by the store. */
  readonly payload: string;
}

/** One complete answer of `GET /libs` (specification 4.1). Times are of the local monotonic clock, `performance.now()`. */
export interface Listing {
  readonly libraries: ListedLibraries;
  readonly rejects: readonly Reject[];
  /** Null if complete; else the reason why libraries that it lacks prove nothing. */
  readonly incomplete: string | null;
  /** How many entries repeated an earlier one. */
  readonly repeated: number;
  readonly startedAt: number;
  /** For how long a cache had held it, in ms; 0 when the service itself answered, infinite if that is unknown. */
  readonly cachedMs: number;
  /** Its `Date` header, in ms since the epoch; null if it has none. */
  readonly date: number | null;
}

/** Fields that every scenario should have. If stored scenarios lose one, the service may have changed (drift). */
export const DRIFT_FIELDS = ["scenarioName", "isResult", "lastModified"] as const;
export type DriftField = (typeof DRIFT_FIELDS)[number];

/** A field of the scenarios of one library: its live stored ones compared with those of a read. Absent counts, null does not. */
export interface FieldCounts {
  readonly field: DriftField;
  /** Live stored scenarios, with the field or without, and those of them that the read contains. */
  readonly stored: number;
  readonly common: number;
  /** Stored ones that have the field, those of them that the read contains, and those of these that have it in the read too. */
  readonly having: number;
  readonly shared: number;
  readonly kept: number;
}

/** Fields that a read lacks, compared with the stored rows of the library. */
export interface FieldComparison {
  /** Fields that the received metadata lacks and the stored one has. */
  readonly metadata: readonly MetadataField[];
  /** The fields that some item of the list lacks. */
  readonly scenarios: readonly FieldCounts[];
}

/** Where the scenarios of one list go while they are read, so that a long list need not fit into memory. */
export interface ScenarioSink {
  /** Drops all scenarios that were added: a retried list delivers its first items again. */
  restart(): Promise<void>;
  /** Adds scenarios in the order in which they were received; resolves when more may be added. */
  add(scenarios: readonly Scenario[]): Promise<void>;
  /** JSON texts of added scenarios, as sent or as jsonb spells them. A scenario without one counts as equal to its repetition. */
  sources(ids: readonly ScenarioId[]): Promise<ReadonlyMap<ScenarioId, string>>;
  /** Takes back a scenario that a later item contradicted. */
  remove(id: ScenarioId): Promise<void>;
  /** All scenarios that were added and not taken back. */
  finish(): Promise<ScenarioSet>;
}

/** The content of one library as received. */
export interface ReceivedContent {
  /** Null when the object was rejected (then `rejects` says why). */
  readonly metadata: Metadata | null;
  readonly rejects: readonly Reject[];
  /** What the sink returned. */
  readonly scenarios: ScenarioSet;
  /** The number of items in the scenario list, rejected ones included. */
  readonly items: number;
  /** How many of those items have the field, null or not. */
  readonly present: Readonly<Record<DriftField, number>>;
  /** Hex digest of the two answers' decoded bytes. */
  readonly digest: string;
  /** When the first request was sent, on the local monotonic clock, `performance.now()`. */
  readonly sentAt: number;
  /** The earliest `Date` of the answers; null when one had none. */
  readonly date: number | null;
  /** For how long a cache had held the older answer, in ms; 0 when the service itself answered, infinite if that is unknown. */
  readonly cachedMs: number;
}

/** The stored state of a library, as a plan needs it. Times are the database's, in milliseconds. */
export type StoredLibrary =
  /** A listing named it, and its content was never stored. */
  | { readonly state: "listed"; readonly key: LibraryKey; readonly sync: SyncState }
  /** `sync` is null only if another program deleted its row of `library_sync`. */
  | { readonly state: "live"; readonly key: LibraryKey; readonly sync: SyncState | null }
  | {
      readonly state: "removed";
      readonly key: LibraryKey;
      readonly sync: SyncState | null;
      readonly removedAt: number;
    };

export type RereadReason = "rejects" | "failure" | "shrunk" | "restored";

/** One row of `library_sync`. */
export interface SyncState {
  readonly listedText: string | null;
  readonly bookmark: string | null;
  readonly contentHash: string | null;
  readonly bookmarkSeenAt: number | null;
  readonly contentReadAt: number | null;
  readonly rereadReason: RereadReason | null;
  /** The last read lacked too many scenarios at once, so their removal waits for the next one. */
  readonly hasAbsences: boolean;
  readonly failures: number;
  /** When its read or store last failed; null when it did not fail last time. */
  readonly lastFailedAt: number | null;
  /** Reads in a row under one date that a cache may have answered, or whose metadata has another date or may be another library's. */
  readonly suspectReads: number;
  /** Removals, including this library's, have been held since this moment; null if none is held. */
  readonly removalHeldAt: number | null;
}

/** Why a library is read or skipped. */
export type Reason =
  | "never read"
  | "listed date changed"
  | "no listed date"
  | `owes a read: ${RereadReason}`
  | "not settled yet"
  | "due for a full read"
  | "forced"
  | SkipReason;

export type SkipReason = "unchanged" | "settling" | "backing off";
export type ReadReason = Exclude<Reason, SkipReason>;

export type Decision =
  | { readonly kind: "read"; readonly reason: ReadReason }
  | { readonly kind: "skip"; readonly reason: SkipReason };

/** A library that this run will read. */
export interface ReadAction {
  readonly listed: ListedLibrary;
  readonly stored: StoredLibrary | null;
  readonly reason: ReadReason;
}

/** The scenarios of one library, read and ready to be stored. */
export type ScenarioSet =
  | { readonly kind: "memory"; readonly scenarios: readonly Scenario[]; readonly count: number }
  | { readonly kind: "staged"; readonly stage: string; readonly count: number };

/** The content of one library, ready to be stored. Times are the database's, in milliseconds. */
export interface LibraryContent {
  /** The responses are the ones that are stored, so only `library_sync` is written, and open rejects are resolved. */
  readonly isSame: boolean;
  readonly listed: ListedLibrary;
  /** Null keeps the metadata that is stored. */
  readonly metadata: Metadata | null;
  readonly scenarios: ScenarioSet;
  readonly rejects: readonly Reject[];
  /** Its list entry or part of the content was rejected: the rest is stored, and nothing is concluded from what is missing. */
  readonly isPartial: boolean;
  /** Its row of `library_sync` before this read. */
  readonly before: SyncState | null;
  readonly contentHash: string;
  readonly bookmarkSeenAt: number;
  /** A read of the same text from this moment on settles it; null if the listing gave no text. */
  readonly settlesAt: number | null;
  readonly contentReadAt: number;
  /** When a cache had stored the older answer, minus infinity if that is unknown; null if the service itself answered. */
  readonly contentAsOf: number | null;
  readonly suspectReads: number;
}

/** One library's scenarios, while they are received and until they are stored. */
export interface ScenarioBuffer extends ScenarioSink {
  /** Frees the memory or the staging rows that the set occupies. */
  free(): Promise<void>;
}

/** A library that a run could not read or store. */
export interface LibraryFailure {
  readonly key: LibraryKey;
  readonly code: string;
  readonly message: string;
}

/** A library that could not be read or stored. Its stored content stays, and the next run tries it again. */
export interface FailedLibrary extends LibraryFailure {
  readonly rejects: readonly Reject[];
  /** Its content changed under a settled date. */
  readonly silent?: boolean;
}

/** The result of reading one library. `buffer` is freed by `saveOutcomes`. */
export type ReadOutcome =
  | {
      readonly kind: "read";
      readonly action: ReadAction;
      readonly content: LibraryContent;
      readonly buffer: ScenarioBuffer;
    }
  | { readonly kind: "failed"; readonly failure: FailedLibrary };

/** The result of saving one library. */
export type SaveOutcome =
  | {
      readonly kind: "saved";
      readonly action: ReadAction;
      readonly content: LibraryContent;
      readonly saved: SavedLibrary;
    }
  | { readonly kind: "failed"; readonly failure: FailedLibrary }
  /** The database refused to save that failure, or its rejects, or (null) the rejects of the listing. */
  | { readonly kind: "unsaved"; readonly key: LibraryKey | null; readonly message: string };

/** A scenario list that lost too much at once: stored, with `missing` scenarios that another read has to confirm as removed. */
export interface Withheld {
  readonly live: number;
  readonly missing: number;
}

/** What became of the scenarios of a stored library. */
export interface SavedScenarios {
  readonly inserted: number;
  readonly updated: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly withheld: Withheld | null;
  /** The library's scenarios that are not marked as removed, and the results among them; null if its content was the same. */
  readonly scenarioCount: number | null;
  readonly resultCount: number | null;
}

export interface SavedLibrary extends SavedScenarios {
  readonly changed: boolean;
  readonly rereadReason: RereadReason | null;
}

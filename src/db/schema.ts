/**
 * The tables of schema `simcat`. Migrations are generated from this file. The fields of libraries and scenarios are declared in
 * `content-fields.ts`. The meaning of each column is in its database comment (migrations) and in docs/reference/tables.md.
 */
import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  date,
  foreignKey,
  index,
  integer,
  jsonb,
  pgSchema,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { COUNT_COLUMNS } from "../run-summary.ts";
import { columnsOf, instant, keyColumn, libraryFields, scenarioFields } from "./content-fields.ts";

const runId = (name: string) => bigint(name, { mode: "number" });

export const simcat = pgSchema("simcat");

const libraryKey = () => ({ owner: keyColumn("owner").notNull(), libraryName: keyColumn("library_name").notNull() });

/** Columns that simcat fills itself. */
const rowColumns = () => ({
  firstSeenAt: instant("first_seen_at").notNull(),
  changedAt: instant("changed_at").notNull(),
  removedAt: instant("removed_at"),
  runId: runId("run_id").notNull(),
});

const libraryTableColumns = () => ({ ...columnsOf(libraryFields), ...rowColumns() });

const scenarioTableColumns = () => ({ ...libraryKey(), ...columnsOf(scenarioFields), ...rowColumns() });

const versionColumns = () => ({
  validFrom: instant("valid_from").notNull(),
  validTo: instant("valid_to").notNull(),
  supersededBy: runId("superseded_by").notNull(),
});

/** Numbers of scenarios and of bytes may exceed an integer. */
const runCountColumns = () =>
  Object.fromEntries(
    Object.entries(COUNT_COLUMNS).map(([count, name]) => {
      const column = /^(scenarios_|bytes)/.test(name) ? bigint(name, { mode: "number" }) : integer(name);
      return [count, column.notNull().default(0)];
    }),
  );

export const libraries = simcat.table("libraries", libraryTableColumns(), (t) => [
  primaryKey({ columns: [t.owner, t.libraryName] }),
]);

export const scenarios = simcat.table("scenarios", scenarioTableColumns(), (t) => [
  // Migration 0005 includes columns that questions about parents need; drizzle has no words for INCLUDE.
  primaryKey({ columns: [t.owner, t.libraryName, t.scenarioId] }),
  foreignKey({ columns: [t.owner, t.libraryName], foreignColumns: [libraries.owner, libraries.libraryName] }),
  // Results by their parent, the latest first, with all that questions about them need.
  index("scenarios_parent_index")
    .on(
      t.owner,
      t.libraryName,
      sql`nullif(parent_id, 0)`,
      t.lastModifiedAt.desc().nullsLast(),
      t.scenarioId.desc().nullsFirst(),
      t.isResult,
      t.parentId,
    )
    .where(sql`removed_at IS NULL AND nullif(parent_id, 0) IS NOT NULL`),
  index("scenarios_last_modified_at_index").on(t.lastModifiedAt),
  // The few that data_quality looks for, with all that it needs.
  index("scenarios_quality_index")
    .on(t.owner, t.libraryName, t.scenarioId, t.parentId, t.isResult)
    .where(sql`removed_at IS NULL AND (
    last_modified <> '' AND last_modified_at IS NULL
    OR is_result AND nullif(parent_id, 0) IS NULL
    OR NOT is_result AND nullif(parent_id, 0) IS NOT NULL
    OR nullif(parent_id, 0) >= scenario_id)`),
]);

export const libraryHistory = simcat.table(
  "library_history",
  { ...libraryTableColumns(), ...versionColumns() },
  (t) => [
    primaryKey({ columns: [t.owner, t.libraryName, t.validFrom] }),
    index().on(t.validTo),
    index().on(t.supersededBy).concurrently(),
    check("library_history_not_empty", sql`valid_to > valid_from`),
  ],
);

export const scenarioHistory = simcat.table(
  "scenario_history",
  { ...scenarioTableColumns(), ...versionColumns() },
  (t) => [
    primaryKey({ columns: [t.owner, t.libraryName, t.scenarioId, t.validFrom] }),
    index().on(t.validTo),
    index().on(t.supersededBy).concurrently(),
    check("scenario_history_not_empty", sql`valid_to > valid_from`),
  ],
);

/**
 * What happened, written by the statement that stores it. A row without scenario_id is about a library; its counts are those of all
 * scenarios that were loaded, went or returned with it. Sums of the signed numbers are the live scenarios, results and bytes.
 */
export const events = simcat.table(
  "events",
  {
    seenAt: instant("seen_at").notNull(),
    runId: runId("run_id").notNull(),
    scenarioId: bigint("scenario_id", { mode: "bigint" }),
    parentId: bigint("parent_id", { mode: "bigint" }),
    serviceDate: instant("service_date"),
    bytes: bigint("bytes", { mode: "number" }).notNull(),
    scenarios: bigint("scenarios", { mode: "number" }).notNull(),
    results: bigint("results", { mode: "number" }).notNull(),
    isResult: boolean("is_result"),
    kind: text("kind", { enum: ["loaded", "added", "changed", "removed", "returned"] }).notNull(),
    ...libraryKey(),
    scenarioName: text("scenario_name"),
    fields: text("fields").array(),
    oldValues: text("old_values").array(),
    newValues: text("new_values").array(),
  },
  (t) => [
    index("events_seen_at_index").on(t.seenAt),
    index("events_library_index").on(t.owner, t.libraryName, t.seenAt),
    // Libraries that came and went, which are few.
    index("events_presence_index").on(t.runId, t.libraryName).where(sql`scenario_id IS NULL AND kind <> 'changed'`),
  ],
);

export const librarySync = simcat.table(
  "library_sync",
  {
    ...libraryKey(),
    listedText: text("listed_text"),
    bookmark: text("bookmark"),
    contentHash: text("content_hash"),
    bookmarkSeenAt: instant("bookmark_seen_at"),
    contentReadAt: instant("content_read_at"),
    rereadReason: text("reread_reason", { enum: ["rejects", "failure", "shrunk", "restored"] }),
    shrunkRunId: runId("shrunk_run_id"),
    suspectReads: integer("suspect_reads").notNull().default(0),
    failures: integer("failures").notNull().default(0),
    lastError: text("last_error"),
    lastFailedAt: instant("last_failed_at"),
    lastSuccessAt: instant("last_success_at"),
    settlesAt: instant("settles_at"),
    removalHeldAt: instant("removal_held_at"),
    scenarioCount: bigint("scenario_count", { mode: "number" }),
    resultCount: bigint("result_count", { mode: "number" }),
    lastScenarioAt: instant("last_scenario_at"),
    lastScenarioId: bigint("last_scenario_id", { mode: "bigint" }),
    /** NULL: listed by an earlier version. */
    firstListedAt: instant("first_listed_at"),
    contentAsOf: instant("content_as_of"),
  },
  (t) => [primaryKey({ columns: [t.owner, t.libraryName] })],
);

/** Scenarios that a shrunk list lacked. A later read confirms whether they are gone. */
export const scenarioAbsences = simcat.table(
  "scenario_absences",
  {
    ...libraryKey(),
    scenarioId: bigint("scenario_id", { mode: "bigint" }).notNull(),
    runId: runId("run_id").notNull(),
  },
  (t) => [primaryKey({ columns: [t.owner, t.libraryName, t.scenarioId] })],
);

/** Long scenario lists on their way into `scenarios`. The migration creates it UNLOGGED: after a crash the lists are read again. */
export const scenarioStaging = simcat.table(
  "scenario_staging",
  {
    stage: text("stage").notNull(),
    ...columnsOf(scenarioFields),
  },
  (t) => [primaryKey({ columns: [t.stage, t.scenarioId] })],
);

export const syncRuns = simcat.table(
  "sync_runs",
  {
    id: bigint("id", { mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    kind: text("kind", { enum: ["sync", "backfill"] }).notNull(),
    trigger: text("trigger", { enum: ["cli", "schedule"] }).notNull(),
    scope: jsonb("scope"),
    allowRemovals: boolean("allow_removals").notNull().default(false),
    backfillSince: instant("backfill_since"),
    status: text("status").notNull(),
    startedAt: instant("started_at").notNull().default(sql`clock_timestamp()`),
    finishedAt: instant("finished_at"),
    ...runCountColumns(),
    error: text("error"),
    version: text("version").notNull(),
    restart: boolean("restart").notNull().default(false),
    listingComplete: boolean("listing_complete"),
    listingAsOf: instant("listing_as_of"),
  },
  (t) => [index("sync_runs_restart_index").on(t.backfillSince).where(sql`restart`)],
);

/** The prunes that deleted history. Nothing deletes their rows. */
export const prunes = simcat.table("prunes", {
  id: bigint("id", { mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
  prunedAt: instant("pruned_at").notNull(),
  cutoff: instant("cutoff").notNull(),
  libraryVersions: bigint("library_versions", { mode: "number" }),
  scenarioVersions: bigint("scenario_versions", { mode: "number" }),
  /** Whether events before the cutoff were deleted too. */
  events: boolean("events").notNull().default(false),
});

/** The UTC days of which a snapshot was taken. `prune` deletes nothing of the three tables of snapshots. */
export const snapshotDays = simcat.table("snapshot_days", {
  day: date("day").primaryKey(),
  runId: runId("run_id").notNull(),
  takenAt: instant("taken_at").notNull(),
});

/** The snapshots of the libraries: a row holds from its first day to the day before its `to_day`. */
export const libraryDays = simcat.table(
  "library_days",
  {
    ...libraryKey(),
    fromDay: date("from_day").notNull(),
    toDay: date("to_day"),
    live: boolean("live").notNull(),
    scenarios: bigint("scenarios", { mode: "number" }),
    results: bigint("results", { mode: "number" }),
    bytes: bigint("bytes", { mode: "number" }),
    packageName: text("package_name"),
    packageVersion: text("package_version"),
    lastReadAt: instant("last_read_at"),
    isStored: boolean("is_stored").notNull().default(true),
    lastWorkAt: instant("last_work_at"),
  },
  (t) => [
    primaryKey({ columns: [t.owner, t.libraryName, t.fromDay] }),
    index("library_days_open_index").on(t.owner, t.libraryName).where(sql`to_day IS NULL`),
    check("library_days_not_empty", sql`to_day > from_day`),
  ],
);

/** The sums of each day's snapshot by owner. */
export const ownerDays = simcat.table(
  "owner_days",
  {
    day: date("day").notNull(),
    owner: keyColumn("owner").notNull(),
    libraries: bigint("libraries", { mode: "number" }).notNull(),
    scenarios: bigint("scenarios", { mode: "number" }).notNull(),
    results: bigint("results", { mode: "number" }).notNull(),
    bytes: bigint("bytes", { mode: "number" }).notNull(),
    sizesUnread: bigint("sizes_unread", { mode: "number" }).notNull(),
    oldestReadAt: instant("oldest_read_at"),
    notStored: bigint("not_stored", { mode: "number" }),
    active: bigint("active", { mode: "number" }),
    quiet: bigint("quiet", { mode: "number" }),
    stale: bigint("stale", { mode: "number" }),
  },
  (t) => [primaryKey({ columns: [t.owner, t.day] }), index().on(t.day)],
);

export const rejects = simcat.table(
  "rejects",
  {
    id: bigint("id", { mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    runId: runId("run_id").notNull(),
    owner: keyColumn("owner"),
    libraryName: keyColumn("library_name"),
    kind: text("kind", { enum: ["listing", "metadata", "scenario"] }).notNull(),
    code: text("code").notNull(),
    path: text("path").notNull(),
    reason: text("reason").notNull(),
    payload: text("payload").notNull(),
    fingerprint: text("fingerprint").notNull(),
    firstSeenAt: instant("first_seen_at").notNull(),
    lastSeenAt: instant("last_seen_at").notNull(),
    resolvedAt: instant("resolved_at"),
  },
  (t) => [
    uniqueIndex().on(t.fingerprint),
    index("rejects_open_index").on(t.owner, t.libraryName).where(sql`resolved_at IS NULL`),
    index("rejects_unnamed_index").on(t.firstSeenAt).where(sql`kind = 'listing' AND owner IS NULL`),
  ],
);

export const leases = simcat.table(
  "leases",
  {
    name: text("name").primaryKey(),
    holder: text("holder").notNull(),
    token: bigint("token", { mode: "number" }).notNull(),
    expiresAt: instant("expires_at").notNull(),
  },
  // In a unique index, so that FOR KEY SHARE on a row conflicts with a takeover (token changes) and not with a renewal.
  (t) => [uniqueIndex("leases_name_token_key").on(t.name, t.token)],
);

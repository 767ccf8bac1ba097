import { distance } from "fastest-levenshtein";
import { loadSchema } from "../db/schema-state.ts";
import { ConfigurationError, UsageError } from "../errors.ts";
import { type ExportState, isoTime } from "./export-state.ts";

/** A view of simcat_report, as the catalogue describes it. Every role may read the catalogue. */
export interface KnownView {
  readonly name: string;
  readonly comment: string | null;
  readonly columns: readonly ViewColumn[];
}

interface ViewColumn {
  readonly name: string;
  /** As in SQL, except for `timestamptz`. */
  readonly type: string;
  readonly comment: string | null;
}

/** All views of simcat_report, by name; none if there is no schema. */
export const SELECT_VIEWS = `
SELECT c.relname AS name, obj_description(c.oid, 'pg_class') AS comment,
  (
    SELECT jsonb_agg(jsonb_build_object('name', a.attname, 'comment', col_description(c.oid, a.attnum),
      'type', replace(format_type(a.atttypid, NULL), 'timestamp with time zone', 'timestamptz')) ORDER BY a.attnum)
    FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  ) AS columns
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'simcat_report' AND c.relkind = 'v'
ORDER BY c.relname`;

type PlannedView = ReturnType<typeof planExport>[number];

/** The types of exported columns. */
export type ExportType = (typeof EXPORT_TYPES)[number];

export type ExportColumn = ReturnType<typeof toExportColumns>[number];

/** How times are read: as ISO 8601 texts in UTC, or as whole microseconds and days since 1970. */
export type TimeNotation = "iso" | "epoch";

const DEFAULT_VIEWS = ["libraries", "scenarios", "activity"];
/** The views with a function that returns their rows of an earlier moment, such as `libraries_as_of`. */
const PAST_VIEWS = ["libraries", "scenarios"];

interface SinceFilter {
  /** The time by which `--since` filters rows: when simcat stored or saw what the row describes. */
  readonly column: string;
  /** For a view that lacks earlier rows: the column of data_complete_as_of that says since when it is complete. */
  readonly complete?: "history_complete_since" | "events_complete_since";
}

/** The views to which `--since` applies. */
const SINCE: Readonly<Record<string, SinceFilter>> = {
  activity: { column: "seen_at", complete: "history_complete_since" },
  changes: { column: "changed_at", complete: "history_complete_since" },
  daily_libraries: { column: "day" },
  daily_owners: { column: "day" },
  events: { column: "seen_at", complete: "events_complete_since" },
  libraries: { column: "changed_at" },
  library_versions: { column: "valid_from", complete: "history_complete_since" },
  prune_history: { column: "pruned_at" },
  removed: { column: "removed_at", complete: "history_complete_since" },
  run_history: { column: "started_at" },
  scenario_versions: { column: "valid_from", complete: "history_complete_since" },
  scenarios: { column: "changed_at" },
};

/** A warning for each view that lacks rows of the time from `since` on. */
export function findCutShort(views: readonly PlannedView[], { since, ...state }: ExportState): string[] {
  return views.flatMap(({ view: { name } }) => {
    const complete = SINCE[name]?.complete;
    if (since === null || complete === undefined) return [];
    const begin = state[complete];
    if (begin !== null && since >= begin) return [];
    const found = begin === null ? "no run has seen everything yet" : `it is complete since ${begin}`;
    return [`${name} lacks rows of the time from --since ${since} on: ${found}`];
  });
}

/**
 * Chooses the views, and checks that each takes the filters.
 * @throws UsageError for an unknown view or a filter that a view does not take, ConfigurationError for a view that was lost
 */
export function planExport(
  all: readonly KnownView[],
  requested: readonly string[],
  { asOf, since, owners }: { readonly asOf: unknown; readonly since: unknown; readonly owners: readonly string[] },
) {
  const names = requested.length > 0 ? requested : asOf === null ? DEFAULT_VIEWS : PAST_VIEWS;
  const views = [...new Set(names)].map((name) => findView(all, name));
  const assertEach = (option: string, lack: string, takes: (view: KnownView) => boolean) => {
    const refusing = views.filter((view) => !takes(view));
    if (refusing.length === 0) return;
    throw new UsageError(`${option} does not apply to ${listNames(refusing)}: there is ${lack}`, {
      hint: `it applies to ${listNames(all.filter(takes))}; export the others separately`,
    });
  };
  if (asOf !== null)
    assertEach("--as-of", "no function that answers for an earlier moment", ({ name }) => PAST_VIEWS.includes(name));
  if (since !== null) assertEach("--since", "no time to filter by", ({ name }) => name in SINCE);
  if (owners.length > 0)
    assertEach("--owner", "no column owner", ({ columns }) => columns.some(({ name }) => name === "owner"));
  return views.map((view) => ({ view, columns: toExportColumns(view.columns) }));
}

function findView(all: readonly KnownView[], name: string): KnownView {
  const view = all.find((one) => one.name === name);
  if (view !== undefined) return view;
  const isLost = loadSchema().views.files.some(({ label }) => label === `view simcat_report.${name}`);
  if (isLost)
    throw new ConfigurationError(`the database lacks the view simcat_report.${name}`, { hint: "run simcat check" });
  const near = all.filter((one) => distance(one.name, name) <= 3).map((one) => one.name);
  const meant = near.length === 0 ? "" : ` (did you mean ${near.join(" or ")}?)`;
  throw new UsageError(`there is no view ${JSON.stringify(name)}${meant}`, { hint: `the views are ${listNames(all)}` });
}

const listNames = (views: readonly KnownView[]) => views.map(({ name }) => name).join(", ");

export const quoteIdentifier = (name: string) => `"${name.replaceAll('"', '""')}"`;

const NUMBER_TYPES = ["bigint", "integer", "double precision", "numeric"] as const;
const EXPORT_TYPES = [...NUMBER_TYPES, "text", "boolean", "timestamptz", "date", "jsonb"] as const;

/** The columns of an export of a view. Types that no file format has become text. An interval has its seconds in another column. */
export const toExportColumns = (columns: readonly ViewColumn[]) =>
  columns
    .filter(({ type }) => type !== "interval")
    .map((column) => ({ ...column, type: EXPORT_TYPES.find((type) => type === column.type) ?? "text" }));

/** The query whose rows are exported, with values as the server prints them. No owner: of all. */
export function toSelect(
  { view, columns }: PlannedView,
  { as_of, since, owners }: Pick<ExportState, "as_of" | "since"> & { readonly owners: readonly string[] },
  times: TimeNotation,
) {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const source = as_of === null ? view.name : `${view.name}_as_of`;
  const from = `simcat_report.${quoteIdentifier(source)}${as_of === null ? "" : `(${bind(as_of)}::timestamptz)`}`;
  const conditions = ["true"];
  const column = SINCE[view.name]?.column;
  const moment = since === null ? null : `${bind(since)}::timestamptz`;
  // A day is exported if any of it is since that moment.
  if (moment !== null)
    conditions.push(`${column} >= ${column === "day" ? `(${moment} AT TIME ZONE 'UTC')::date` : moment}`);
  if (owners.length > 0) conditions.push(`owner = ANY (${bind(owners)}::text[])`);
  const items = columns.map((column) => toSelectItem(column, times)).join(", ");
  const text = `SELECT ${items} FROM ${from} WHERE ${conditions.join(" AND ")}`;
  return { text, values, rowMode: "array" as const, types: { getTypeParser: () => (text: string) => text } };
}

function toSelectItem({ name, type }: ExportColumn, times: TimeNotation): string {
  const sql = quoteIdentifier(name);
  const finite = (epoch: string) => `CASE WHEN isfinite(${sql}) THEN ${epoch} END`;
  if (type === "timestamptz")
    return times === "iso" ? isoTime(sql) : finite(`(extract(epoch FROM ${sql}) * 1000000)::bigint`);
  if (type === "date") return times === "iso" ? `to_char(${sql}, 'YYYY-MM-DD')` : finite(`${sql} - DATE '1970-01-01'`);
  return type === "boolean" ? `${sql}::text` : sql;
}

import { readdirSync, readFileSync } from "node:fs";

/** A query that BI tools send to a view or function. */
export interface Query {
  readonly view: string;
  readonly pattern: string;
  readonly sql: string;
}

const LIBRARY = "owner = 'owner-0007' AND library_name = 'Timber Supply 3'";
const OWNER = "owner = 'owner-0007'";
const MOMENT = "timestamptz '2026-03-01 00:00Z'";
const LAST_WEEK = "timestamptz '2026-04-08 00:00Z'";

const of = (view: string, patterns: Readonly<Record<string, string>>): Query[] =>
  Object.entries(patterns).map(([pattern, rest]) => ({
    view,
    pattern,
    sql: `SELECT * FROM simcat_report.${view} ${rest}`,
  }));

const keyed = (view: string, more: Readonly<Record<string, string>> = {}): Query[] =>
  of(view, { library: `WHERE ${LIBRARY}`, owner: `WHERE ${OWNER}`, whole: "", ...more });

const PROBLEMS = [
  "date_not_understood",
  "no_date",
  "future_date",
  "size_not_understood",
  "no_size",
  "names_differ_by_case",
  "name_under_two_owners",
  "result_without_parent",
  "parent_but_no_result",
  "own_parent",
  "parent_missing",
  "parent_cycle",
  "open_reject",
  "future_version",
];

const END = "timestamptz '2026-04-15 04:00Z'";

/** The documented questions, asked at the end of the last run. */
const QUESTIONS = readdirSync("examples/queries").map((file) => ({
  view: "examples/queries",
  pattern: file,
  sql: readFileSync(`examples/queries/${file}`, "utf8").replaceAll("now()", END),
}));

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly rawSql: string }[] }[];
}

/** The panels of the Grafana dashboard with all owners and packages, over the week before the last run. */
export const PANELS = (
  JSON.parse(readFileSync("deploy/grafana/dashboards/simcat.json", "utf8")) as Dashboard
).panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ rawSql }) => ({
    view: "deploy/grafana",
    pattern: title,
    sql: rawSql
      .replace(/\$\{\w+:sqlstring\}/g, "NULL")
      .replace(/\$__timeGroupAlias\((\w+), \$__interval\)/g, "floor(extract(epoch FROM $1) / 3600) * 3600 AS time")
      .replace(/\$__timeFilter\((\w+)\)/g, `$1 BETWEEN ${LAST_WEEK} AND ${END}`)
      .replaceAll("$__timeFrom()", LAST_WEEK)
      .replaceAll("$__timeTo()", END)
      .replaceAll("now()", END),
  })),
);

export const queries = (runs: number): readonly Query[] => [
  ...keyed("libraries", {
    newest: "ORDER BY last_modified_at DESC LIMIT 100",
    "name ILIKE": "WHERE library_name ILIKE '%wetland%' LIMIT 100",
    "one package": "WHERE package_name = 'package-3' AND package_version = '3.5.0'",
  }),
  ...keyed("scenarios", {
    newest: "ORDER BY last_modified_at DESC LIMIT 100",
    "name ILIKE": "WHERE scenario_name ILIKE '%no such name%'",
    "last_modified_at of a week": `WHERE last_modified_at >= ${LAST_WEEK}`,
    "one run": `WHERE run_id = ${Math.ceil(runs * 0.75)}`,
    "one id": "WHERE scenario_id = 57",
  }),
  ...keyed("scenario_parents", {
    newest: "ORDER BY last_modified_at DESC LIMIT 100",
    "parent missing": "WHERE parent_missing",
    "name ILIKE": "WHERE parent_name ILIKE '%no such name%'",
  }),
  ...keyed("parents_without_results", { newest: "ORDER BY last_modified_at DESC LIMIT 100" }),
  ...keyed("latest_result_per_parent", {
    newest: "ORDER BY latest_result_modified_at DESC LIMIT 100",
    "most results": "ORDER BY result_count DESC LIMIT 100",
  }),
  ...of("owner_storage", { owner: `WHERE ${OWNER}`, whole: "" }),
  ...of("package_versions", { "one package": "WHERE package_name = 'package-3'", whole: "" }),
  ...keyed("stale_libraries", { bucket: "WHERE bucket = '90 to 365 days'", oldest: "LIMIT 100" }),
  ...keyed("library_freshness", { failing: "WHERE failures > 0", oldest: "ORDER BY complete_as_of LIMIT 100" }),
  ...of("data_complete_as_of", { whole: "" }),
  ...keyed("changes", {
    "last week": `WHERE changed_at >= ${LAST_WEEK}`,
    newest: "ORDER BY changed_at DESC LIMIT 100",
    "one run": "WHERE run_id = 9000",
    "largest run": `WHERE run_id = ${Math.ceil(runs * 0.75)}`,
    "first run": "WHERE run_id = 1",
    removed: "WHERE kind = 'removed'",
    "one field": `WHERE field = 'scenario_name' AND changed_at >= ${LAST_WEEK}`,
    "libraries only": "WHERE what = 'library'",
  }),
  ...keyed("removed", {
    "last week": `WHERE removed_at >= ${LAST_WEEK}`,
    newest: "ORDER BY removed_at DESC LIMIT 100",
    "one run": "WHERE run_id = 9000",
  }),
  ...keyed("data_quality", {
    errors: "WHERE severity = 'error'",
    "for the operator": "WHERE fix_by = 'operator'",
    ...Object.fromEntries(PROBLEMS.map((problem) => [problem, `WHERE problem = '${problem}'`])),
  }),
  ...keyed("activity", {
    "last week": `WHERE seen_at >= ${LAST_WEEK}`,
    newest: "ORDER BY seen_at DESC LIMIT 100",
    added: "WHERE kind = 'added'",
    changed: "WHERE kind = 'changed'",
    removed: "WHERE kind = 'removed'",
    "one run": "WHERE run_id = 9000",
  }),
  ...keyed("events", {
    "last week": `WHERE seen_at >= ${LAST_WEEK}`,
    newest: "ORDER BY seen_at DESC LIMIT 100",
    "one run": "WHERE run_id = 9000",
  }),
  ...keyed("stale_results", { newest: "ORDER BY parent_last_modified_at DESC LIMIT 100" }),
  ...of("run_history", {
    "last run": "ORDER BY run_id DESC LIMIT 1",
    "one status": "WHERE status = 'partial'",
    whole: "",
  }),
  ...keyed("library_versions", { "one run": "WHERE run_id = 9000" }),
  ...keyed("scenario_versions", {
    "last week": `WHERE valid_from >= ${LAST_WEEK}`,
    "one run": "WHERE run_id = 9000",
  }),
  ...keyed(`libraries_as_of(${MOMENT})`),
  ...keyed(`scenarios_as_of(${MOMENT})`),
  ...of("scenario_tree('owner-0007', 'Timber Supply 3')", { library: "" }),
  ...QUESTIONS,
  ...PANELS,
];

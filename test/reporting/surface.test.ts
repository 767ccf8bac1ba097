import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { inUndone, useTestDatabase } from "../support/database.ts";

const database = useTestDatabase();

/**
 * The columns that people's queries and dashboards use. A column may be added at the end of a view; none may ever be changed,
 * moved or taken away.
 */
const SURFACE = `
activity
  entity text, kind text, owner text, library_name text, scenario_id bigint, is_result boolean,
  service_date timestamptz, seen_at timestamptz, run_id bigint
changes
  changed_at timestamptz, kind text, what text, owner text, library_name text, scenario_id bigint, name text,
  field text, old_value text, new_value text, run_id bigint
daily_libraries
  day date, owner text, library_name text, live boolean, scenarios bigint, parents bigint, results bigint,
  bytes bigint, package_name text, package_version text, last_read_at timestamptz, read_age_seconds double precision,
  is_stored boolean, last_work_at timestamptz, work_state text, taken_at timestamptz, run_id bigint
daily_owners
  day date, owner text, libraries bigint, scenarios bigint, parents bigint, results bigint, bytes bigint,
  sizes_unread bigint, oldest_read_at timestamptz, oldest_read_age_seconds double precision, not_stored bigint, active bigint,
  quiet bigint, stale bigint, taken_at timestamptz, run_id bigint
data_complete_as_of
  complete_as_of timestamptz, age interval, last_whole_run_id bigint, last_whole_run_started_at timestamptz,
  last_whole_run_status text, libraries_behind bigint, furthest_behind_owner text, furthest_behind_library text,
  every_library_read_since timestamptz, unaddressable_libraries bigint, history_complete_since timestamptz,
  age_seconds double precision, libraries_settling bigint, events_complete_since timestamptz,
  seen_as_of timestamptz
data_quality
  problem text, what text, owner text, library_name text, scenario_id bigint, field text, value text, detail text,
  severity text, fix_by text
events
  entity text, kind text, owner text, library_name text, scenario_id bigint, scenario_name text, parent_id bigint,
  is_result boolean, service_date timestamptz, seen_at timestamptz, run_id bigint, fields text,
  library_change integer, scenario_change bigint, result_change bigint, byte_change bigint, is_move boolean
latest_result_per_parent
  owner text, library_name text, parent_id bigint, parent_name text, parent_missing boolean, result_count bigint,
  latest_result_id bigint, latest_result_name text, latest_result_modified_at timestamptz
libraries
  owner text, library_name text, library_owner text, package_name text, package_version text, description text,
  last_modified text, last_modified_at timestamptz, file_size text, file_size_bytes bigint, scenario_count bigint,
  result_count bigint, first_seen_at timestamptz, changed_at timestamptz, run_id bigint, listed jsonb, metadata jsonb,
  parent_count bigint, last_work_at timestamptz, last_work_scenario_id bigint, work_state text,
  complete_as_of timestamptz, reread_reason text, open_rejects bigint, unparsed_fields text
library_freshness
  owner text, library_name text, is_stored boolean, last_listed_at timestamptz, last_read_at timestamptz,
  last_whole_read_at timestamptz, last_success_at timestamptz, last_changed_at timestamptz, lag interval,
  settled boolean, settles_at timestamptz, owes text, failures integer, last_error text, last_failed_at timestamptz,
  open_rejects bigint, complete_as_of timestamptz, lag_seconds double precision, removal_held_at timestamptz
library_moves
  seen_at timestamptz, run_id bigint, library_name text, old_owner text, new_owner text, scenario_count bigint,
  file_size_bytes bigint
library_versions
  owner text, library_name text, valid_from timestamptz, valid_to timestamptz, removed_at timestamptz,
  library_owner text, package_name text, package_version text, description text, last_modified text,
  last_modified_at timestamptz, file_size text, file_size_bytes bigint, first_seen_at timestamptz, run_id bigint,
  listed jsonb, metadata jsonb
owner_storage
  owner text, libraries bigint, bytes numeric, sizes_unread bigint, total_bytes bigint
package_versions
  package_name text, package_version text, libraries bigint, owners bigint, newest_version text,
  versions_behind bigint, is_newest boolean
parents_without_results
  owner text, library_name text, scenario_id bigint, scenario_name text, last_modified text,
  last_modified_at timestamptz, first_seen_at timestamptz
prune_history
  pruned_at timestamptz, cutoff timestamptz, library_versions bigint, scenario_versions bigint, events boolean
removed
  removed_at timestamptz, what text, owner text, library_name text, scenario_id bigint, name text,
  went_with_library boolean, last_modified_at timestamptz, first_seen_at timestamptz, run_id bigint,
  file_size_bytes bigint, scenario_count bigint
run_history
  run_id bigint, kind text, trigger text, status text, started_at timestamptz, finished_at timestamptz,
  duration interval, is_whole boolean, saw_everything boolean, libraries_listed integer, libraries_read integer,
  libraries_skipped integer, libraries_changed integer, libraries_failed integer, libraries_removed integer,
  scenarios_added bigint, scenarios_changed bigint, scenarios_removed bigint, scenarios_unchanged bigint,
  rejects integer, silent_changes integer, requests integer, retries integer, bytes bigint, summary text, error text,
  scope jsonb, allow_removals boolean, version text, duration_seconds double precision,
  seen_as_of timestamptz
scenario_parents
  owner text, library_name text, scenario_id bigint, scenario_name text, is_result boolean,
  last_modified_at timestamptz, parent_id bigint, parent_name text, parent_is_result boolean,
  parent_last_modified_at timestamptz, parent_missing boolean, is_own_parent boolean
scenario_versions
  owner text, library_name text, scenario_id bigint, valid_from timestamptz, valid_to timestamptz,
  removed_at timestamptz, scenario_name text, is_result boolean, parent_id bigint, last_modified text,
  last_modified_at timestamptz, description text, first_seen_at timestamptz, run_id bigint, raw jsonb
scenarios
  owner text, library_name text, scenario_id bigint, scenario_name text, is_result boolean, parent_id bigint,
  last_modified text, last_modified_at timestamptz, description text, first_seen_at timestamptz,
  changed_at timestamptz, run_id bigint, raw jsonb, counts_as_result boolean, unparsed_fields text,
  library_complete_as_of timestamptz
stale_libraries
  owner text, library_name text, package_name text, package_version text, file_size_bytes bigint, last_modified text,
  last_modified_at timestamptz, days_since_modified bigint, bucket text
stale_results
  owner text, library_name text, parent_id bigint, parent_name text, parent_last_modified_at timestamptz,
  latest_result_id bigint, latest_result_name text, latest_result_modified_at timestamptz,
  edited_after_seconds double precision, result_count bigint
`;

/** Each view with its columns. */
const SHOWN = SURFACE.replaceAll(",\n  ", ", ")
  .trim()
  .split(/\n(?=\w)/);
const COLUMNS = SHOWN.flatMap((shown) => {
  const [view = "", columns = ""] = shown.split("\n  ");
  return columns.split(", ").map((column) => {
    const [name = "", type = ""] = column.split(/ (.*)/);
    return { view, name: `${view}.${name}`, type };
  });
});
const FUNCTIONS = [
  "history_covers(moment timestamp with time zone) boolean",
  "libraries_as_of(moment timestamp with time zone) SETOF simcat_report.libraries",
  "scenario_tree(owner text, library_name text) TABLE(scenario_id bigint, parent_id bigint, root_id bigint, depth integer, path bigint[], scenario_name text, is_result boolean, last_modified_at timestamp with time zone, parent_missing boolean, is_own_parent boolean, is_in_cycle boolean)",
  "scenarios_as_of(moment timestamp with time zone) SETOF simcat_report.scenarios",
  "version_order(version text) bytea",
  "work_state(last_work_at timestamp with time zone) text",
];

test("each view has its columns, in order and with their types, and nothing else stores or shows rows", async () => {
  const found = await database().query<{ kind: string; name: string; columns: string }>(
    `SELECT relkind AS kind, relname AS name,
       (SELECT string_agg(attname || ' ' || format_type(atttypid, NULL), ', ' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns
     FROM pg_class c WHERE relnamespace = 'simcat_report'::regnamespace ORDER BY relname`,
  );
  expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(["v"]));
  const shown = found.map(({ name, columns }) =>
    `${name}\n  ${columns}`.replaceAll("timestamp with time zone", "timestamptz"),
  );
  expect(shown).toEqual(SHOWN);
});

test("the precision of times does not change, because it keeps views of users from being replaced (fault 407)", async () => {
  const found = await database().lines(
    `SELECT relname || '.' || attname FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
     WHERE relnamespace = 'simcat_report'::regnamespace AND attnum > 0 AND atttypid = 'timestamptz'::regtype AND atttypmod = -1 ORDER BY 1`,
  );
  const times = ["complete_as_of", "events_complete_since", "every_library_read_since", "history_complete_since"];
  expect(found).toEqual([
    ...times.map((name) => `data_complete_as_of.${name}`),
    ...["libraries.last_work_at", "library_freshness.last_changed_at", "library_versions.valid_to"],
    ...[
      "parents_without_results.first_seen_at",
      "parents_without_results.last_modified_at",
      "scenario_versions.valid_to",
    ],
  ]);
});

test("the functions take and give what they always did, and a caller's search_path changes nothing", async () => {
  // Types outside of pg_catalog are written with their schema, whatever the role's search_path is.
  const found = await database().query<{ signature: string; unbound: boolean }>(
    `WITH path AS MATERIALIZED (SELECT set_config('search_path', 'pg_catalog', false))
     SELECT p.proname || '(' || pg_get_function_arguments(p.oid) || ') ' || pg_get_function_result(p.oid) AS signature,
       p.prosrc <> '' AND p.proconfig IS DISTINCT FROM '{search_path=pg_catalog}' AS unbound
     FROM path, pg_proc p WHERE p.pronamespace = 'simcat_report'::regnamespace ORDER BY 1`,
  );
  // A body that is kept as text would be looked up by the caller's search_path, unless the function has its own.
  expect(found).toEqual(FUNCTIONS.map((signature) => ({ signature, unbound: false })));
});

test("who may read nothing but the views can read them all, and without data they are empty, except one", async () => {
  const readers = [
    ...SHOWN.map((shown) => /\w+/.exec(shown)?.[0] ?? ""),
    "libraries_as_of(now())",
    "scenarios_as_of(now())",
    "scenario_tree('ann', 'forest')",
  ];
  const guest = `CREATE ROLE simcat_test_guest; GRANT USAGE ON SCHEMA simcat_report TO simcat_test_guest;
    GRANT SELECT ON ALL TABLES IN SCHEMA simcat_report TO simcat_test_guest; SET LOCAL ROLE simcat_test_guest`;
  await inUndone(database(), guest, async (client) => {
    const counts: Record<string, number> = {};
    for (const name of readers) counts[name] = (await client.query(`SELECT * FROM simcat_report.${name}`)).rows.length;
    const empty = Object.fromEntries(readers.map((name) => [name, 0]));
    expect(counts).toEqual({ ...empty, data_complete_as_of: 1 });
    await expect(client.query("SELECT * FROM simcat.libraries")).rejects.toThrow("permission denied");
  });
});

/** The types of columns that Arrow clients read without loss; .ci/check-arrow reads each view with several of them. */
const ARROW_TYPES = ["text", "jsonb", "bigint", "integer", "boolean", "double precision", "date", "timestamptz"];
const OTHERS = COLUMNS.filter(({ type }) => !ARROW_TYPES.includes(type));

test("every column has an Arrow type, or another column in seconds or as a bigint (fault 129)", () => {
  expect(OTHERS.map(({ name }) => name)).toEqual([
    "data_complete_as_of.age",
    "library_freshness.lag",
    "owner_storage.bytes",
    "run_history.duration",
  ]);
  for (const { view, name, type } of OTHERS) {
    const twin = type === "interval" ? `${name}_seconds` : name.replace(".", ".total_");
    expect(COLUMNS).toContainEqual({ view, name: twin, type: type === "interval" ? "double precision" : "bigint" });
  }
});

/** The queries for Arrow clients in docs/reporting.md, by view. */
function documentedQueries() {
  const [, section = ""] = readFileSync("docs/reporting.md", "utf8").split("\n## Python, R and Arrow\n");
  const queries =
    section.split("\n## ")[0]?.matchAll(/^```sql\nSELECT (.*?)\nFROM simcat_report\.(\w+);\n```$/gms) ?? [];
  return new Map([...queries].map(([, list = "", view = ""]) => [view, list.split(/,\s+/)]));
}

test("the documented queries for Arrow clients have each column but the intervals and decimals (fault 129)", () => {
  const readable = COLUMNS.filter((one) => OTHERS.some(({ view }) => view === one.view) && !OTHERS.includes(one));
  expect([...documentedQueries()].flatMap(([view, names]) => names.map((name) => `${view}.${name}`))).toEqual(
    readable.map(({ name }) => name),
  );
});

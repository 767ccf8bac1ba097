import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";

const database = useTestDatabase();

/** Views that were rewritten for speed. plain-views.sql has their first definitions, in schema `before`. */
const REWRITTEN = [
  "scenarios",
  "scenario_parents",
  "latest_result_per_parent",
  "changes",
  "data_quality",
  "owner_storage",
  "stale_libraries",
];

/** Problems that the first definition did not look for. */
const NEW_PROBLEMS = ["future_date", "no_size", "name_under_two_owners"];

/** One of the values, each as often as the others. */
const anyOf = (...values: readonly string[]) => `(ARRAY[${values.join(", ")}])[1 + floor(random() * ${values.length})]`;

/** Up to four versions of each of 40 libraries and 480 scenarios, with few different values: many of them equal, 0 or NULL. */
const RANDOM_ROWS = `
SELECT setseed(0.4711);
CREATE TEMPORARY TABLE version AS
SELECT owner, library_name, scenario_id, n, n = last AS is_newest, '2026-01-01 00:00Z'::timestamptz + n * interval '1 day' AS valid_from,
  '2026-01-01 00:00Z'::timestamptz + (n + 1) * interval '1 day' AS valid_to, n + 1 AS run_id,
  ${anyOf("0::bigint", "NULL", "1", "2", "3", "1", "2", "3", "13", "-1")} AS parent_id,
  ${anyOf("true", "false", "NULL")} AS is_result,
  ${anyOf("'A'", "'B'", "''", "NULL")} AS name,
  ${anyOf("'A'", "'B'", "''", "NULL")} AS description,
  ${anyOf("'soon'", "'2025-12-24'", "''", "NULL")} AS last_modified,
  ${anyOf("'2025-12-24Z'::timestamptz", "'2026-01-01Z'", "'2126-01-01Z'", "NULL")} AS last_modified_at,
  ${anyOf("'1 KB'", "'large'", "NULL")} AS file_size,
  ${anyOf("1024::bigint", "9223372036854775807", "NULL")} AS file_size_bytes,
  random() < 0.2 AS is_removed
FROM (
  SELECT owner, library_name, scenario_id, floor(random() * 4)::int AS last
  FROM unnest(ARRAY['ann', 'Ann', 'bob', 'cy']) AS owner, unnest(ARRAY['a', 'A', 'b', 'B', 'é', 'É', 'c', 'd', 'e', 'f']) AS library_name,
    generate_series(0, 12) AS scenario_id
) AS item
CROSS JOIN LATERAL generate_series(0, item.last) AS n;

INSERT INTO simcat.libraries (owner, library_name, library_owner, last_modified, last_modified_at, file_size, file_size_bytes,
  package_name, package_version, description, first_seen_at, changed_at, removed_at, run_id)
SELECT owner, library_name, name, last_modified, last_modified_at, file_size, file_size_bytes, description, name, description,
  '2026-01-01Z', valid_from, CASE WHEN is_removed THEN valid_from END, run_id
FROM version WHERE scenario_id = 0 AND is_newest;

INSERT INTO simcat.library_history (owner, library_name, library_owner, last_modified, last_modified_at, file_size, file_size_bytes,
  package_name, package_version, description, first_seen_at, changed_at, removed_at, run_id, valid_from, valid_to, superseded_by)
SELECT owner, library_name, name, last_modified, last_modified_at, file_size, file_size_bytes, description, name, description,
  '2026-01-01Z', valid_from, CASE WHEN is_removed THEN valid_from END, run_id, valid_from, valid_to, run_id + 1
FROM version WHERE scenario_id = 0 AND NOT is_newest;

INSERT INTO simcat.scenarios (owner, library_name, scenario_id, parent_id, scenario_name, is_result, last_modified, last_modified_at,
  description, raw, first_seen_at, changed_at, removed_at, run_id)
SELECT owner, library_name, scenario_id, parent_id, name, is_result, last_modified, last_modified_at,
  description, '{}', '2026-01-01Z', valid_from, CASE WHEN is_removed THEN valid_from END, run_id
FROM version WHERE scenario_id > 0 AND is_newest;

-- One in twenty is lacking, as after a prune.
INSERT INTO simcat.scenario_history (owner, library_name, scenario_id, parent_id, scenario_name, is_result, last_modified,
  last_modified_at, description, raw, first_seen_at, changed_at, removed_at, run_id, valid_from, valid_to, superseded_by)
SELECT owner, library_name, scenario_id, parent_id, name, is_result, last_modified,
  last_modified_at, description, '{}', '2026-01-01Z', valid_from, CASE WHEN is_removed THEN valid_from END, run_id, valid_from,
  valid_to, run_id + 1
FROM version WHERE scenario_id > 0 AND NOT is_newest AND random() > 0.05;

INSERT INTO simcat.rejects (run_id, owner, library_name, kind, code, path, reason, payload, fingerprint, first_seen_at, last_seen_at)
VALUES (1, 'ann', 'a', 'scenario', 'wrong_type', 'parentId', 'parentId is a string', '{}', '1', '2026-01-01Z', '2026-01-01Z'),
  (1, NULL, NULL, 'listing', 'not_an_object', '', 'it is no object', '{}', '2', '2026-01-01Z', '2026-01-01Z');
DROP TABLE version;`;

beforeAll(async () => {
  const client = await database().pool.connect();
  await client.query(RANDOM_ROWS).finally(() => client.release(true));
  await database().query("CREATE SCHEMA before");
  await database().query(readFileSync("test/reporting/plain-views.sql", "utf8"));
  await database().query("ANALYZE");
});

test.each(REWRITTEN)("%s has the rows of its first definition", async (view) => {
  const columns = await database().query<{ name: string }>(
    `SELECT quote_ident(column_name) AS name FROM information_schema.columns
     WHERE table_schema = 'before' AND table_name = $1 ORDER BY ordinal_position`,
    [view],
  );
  const names = columns.map(({ name }) => name).join(", ");
  const filter = view === "data_quality" ? `WHERE problem <> ALL ('{${NEW_PROBLEMS.join(",")}}')` : "";
  const [before, after] = [
    `SELECT ${names} FROM before.${view}`,
    `SELECT ${names} FROM simcat_report.${view} ${filter}`,
  ];
  expect({
    missing: await database().query(`${before} EXCEPT ALL ${after}`),
    added: await database().query(`${after} EXCEPT ALL ${before}`),
  }).toEqual({ missing: [], added: [] });
  const rows = await database().query(before);
  expect(rows.length).toBeGreaterThan(view === "owner_storage" ? 3 : 25);
});

test("data_quality has the same problems when it is filtered by one of them", async () => {
  const all = await database().query<{ problem: string; rows: string }>(
    "SELECT problem, count(*) AS rows FROM simcat_report.data_quality GROUP BY 1 ORDER BY 1",
  );
  expect(all.map(({ problem }) => problem)).toEqual([
    "date_not_understood",
    "future_date",
    "name_under_two_owners",
    "names_differ_by_case",
    "no_date",
    "open_reject",
    "own_parent",
    "parent_but_no_result",
    "parent_cycle",
    "parent_missing",
    "result_without_parent",
    "size_not_understood",
  ]);
  for (const { problem, rows } of all) {
    expect(
      await database().query("SELECT count(*) AS rows FROM simcat_report.data_quality WHERE problem = $1", [problem]),
    ).toEqual([{ rows }]);
  }
});

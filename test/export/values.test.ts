import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Manifest } from "../../src/export/export-views.ts";
import { addRows } from "../reporting/stored-rows.ts";
import { callCli } from "../support/call-cli.ts";
import { useTestDatabase } from "../support/database.ts";
import { AWKWARD_NAMES } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { duckdb, type FileColumn, loadedValue, loadFile } from "./read-files.ts";

const database = useTestDatabase();
const directory = temporaryDirectory(afterAll);

const MAX_BIGINT = "9223372036854775807";
/** 300 KB, more than one buffer of every writer. */
const HUGE = "huge 🌲\n".repeat(30_000);
const HARD_TEXTS = [
  ...AWKWARD_NAMES,
  // Words and marks that CSV, JSON or Postgres give a meaning.
  ...["", "null", "NULL", "\\N", "\\.", '"', '""', ",", "a,b", "NaN", "-1", "t"],
  // Ends of lines, controls and other characters that readers drop or change.
  ...["\r\n", "line\r", "\t\u0001\u001f\u007f\u0085", "\ufeffmark", "\u2028\u2029", "\ud83d\ude00"],
  HUGE,
];
const HARD_TIMES = ["0001-01-01T00:00:00.000001Z", "1969-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z", null];

beforeAll(async () => {
  const name = new URL(database().url).pathname.slice(1);
  await database().query(`ALTER DATABASE ${name} SET quote_all_identifiers = on`);
  await addRows(database(), "libraries", [
    ...HARD_TEXTS.filter((text) => text !== HUGE).map((name, at) => ({
      library_name: name,
      description: name,
      last_modified: name,
      last_modified_at: HARD_TIMES[at % 4],
      file_size_bytes: [MAX_BIGINT, "9007199254740993", "0", null][at % 4],
      listed: { [name]: name, number: 1 },
    })),
    { library_name: "forest", description: HUGE, package_name: "p", package_version: "1.2" },
    { library_name: "gone", removed_at: "2026-01-03T00:00:00.123456Z" },
  ]);
  await addRows(
    database(),
    "scenarios",
    HARD_TEXTS.map((name, at) => ({
      scenario_id: String(BigInt(MAX_BIGINT) - BigInt(at)),
      parent_id: [null, "-9223372036854775808", "0", "9223372036854775806"][at % 4],
      is_result: [true, false, null][at % 3],
      scenario_name: at % 5 === 0 ? null : name,
      description: name,
      last_modified_at: HARD_TIMES[(at + 1) % 4],
      raw: { description: name, big: 1 },
    })),
  );
  // Numbers that JavaScript would round.
  await database().query(
    `UPDATE simcat.scenarios SET raw = '{"big": 12345678901234567890.123456789, "small": 1e-300, "nested": [null, {"a": true}]}'
     WHERE scenario_id = $1`,
    [MAX_BIGINT],
  );
  await addRows(database(), "library_history", [
    { library_name: "forest", description: '"', valid_from: "2025-01-01", valid_to: "2026-01-01" },
  ]);
  await addRows(database(), "sync_runs", [
    { id: 1, started_at: "2026-01-01T00:00:00Z", finished_at: "2026-01-01T00:00:00.000001Z", bytes: MAX_BIGINT },
    { id: 2, started_at: "2026-01-02", finished_at: "2026-01-04T01:02:03.456789Z", status: "failed", error: "\r" },
    { id: 3, started_at: "2026-01-03T00:00:00Z", status: "running", scope: { owners: ["ann"] } },
  ]);
});

/** Columns that depend on the time of the query. */
const VOLATILE = /^(age_seconds|lag_seconds|days_since_modified|bucket|work_state)$/;

/** The value in the view of a column of the file. */
const viewValue = ({ name, type }: FileColumn) => (type === "jsonb" ? `"${name}"::text` : `"${name}"`);

async function exportAll(format: string) {
  const names = await database().query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'simcat_report'::regnamespace AND relkind = 'v' ORDER BY 1",
  );
  const out = join(directory, format);
  const args = ["export", ...names.map(({ name }) => name), "--format", format, "--out", out, "--json"];
  const { code, stdout, stderr } = await callCli(args, { DATABASE_URL: database().url });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { views }: Manifest = JSON.parse(stdout);
  expect(views.map(({ view }) => view)).toEqual(names.map(({ name }) => name));
  expect(JSON.parse(readFileSync(join(out, "manifest.json"), "utf8"))).toEqual(JSON.parse(stdout));
  return { out, views };
}

test.each(["parquet", "csv", "jsonl"])(
  "every value of every view is exactly that of the database in %s, whatever names it quotes (fault 315)",
  async (format) => {
    const { out, views } = await exportAll(format);
    const client = new pg.Client({ connectionString: database().url });
    await client.connect();
    onTestFinished(() => client.end());
    for (const { view, file, rows, bytes, columns } of views) {
      const path = join(out, file);
      await loadFile(client, path, columns);
      const described = await client.query<{ name: string }>(
        `SELECT attname AS name FROM pg_attribute
       WHERE attrelid = ('simcat_report.' || $1)::regclass AND attnum > 0 AND atttypid <> 'interval'::regtype ORDER BY attnum`,
        [view],
      );
      expect(columns.map(({ name }) => ({ name }))).toEqual(described.rows);
      const compared = columns.filter(({ name }) => !VOLATILE.test(name));
      const expected = `SELECT ${compared.map(viewValue).join(", ")} FROM simcat_report.${view}`;
      const actual = `SELECT ${compared.map((column) => loadedValue(column, format === "parquet")).join(", ")} FROM loaded`;
      const both = `(${actual} EXCEPT ALL ${expected}) UNION ALL (${expected} EXCEPT ALL ${actual})`;
      const differing = (await client.query(both)).rows.slice(0, 2).map((row) => JSON.stringify(row).slice(0, 300));
      expect({ view, differing }).toEqual({ view, differing: [] });
      const [loaded] = (await client.query("SELECT count(*)::int AS rows FROM loaded")).rows;
      expect({ view, ...loaded, bytes: readFileSync(path).length }).toEqual({ view, rows, bytes });
    }
    const { scenarios, libraries } = Object.fromEntries(views.map(({ view, rows }) => [view, rows]));
    expect({ scenarios, libraries }).toEqual({ scenarios: HARD_TEXTS.length, libraries: HARD_TEXTS.length });
  },
);

/** How DuckDB reads the types of Postgres. */
const TYPES: Readonly<Record<string, string>> = {
  text: "VARCHAR",
  jsonb: "VARCHAR",
  bigint: "BIGINT",
  integer: "INTEGER",
  boolean: "BOOLEAN",
  timestamptz: "TIMESTAMP WITH TIME ZONE",
  date: "DATE",
  "double precision": "DOUBLE",
  numeric: "DOUBLE",
};

test("the types of a Parquet file are those of the database, as DuckDB reads them", async () => {
  const { out, views } = await exportAll("parquet");

  for (const { file, columns } of views) {
    const described = await duckdb(`DESCRIBE SELECT * FROM '${join(out, file)}'`);
    const expected = columns.map(({ name, type }) => [name, TYPES[type]]);
    expect([file, ...described.map(([name, type]) => [name, type])]).toEqual([file, ...expected]);
  }
  const scenarios = await duckdb(`SELECT min(scenario_id), max(scenario_id) FROM '${join(out, "scenarios.parquet")}'`);
  expect(scenarios).toEqual([[BigInt(MAX_BIGINT) - BigInt(HARD_TEXTS.length - 1), BigInt(MAX_BIGINT)]]);
  const physical = await duckdb(
    `SELECT type, converted_type, logical_type FROM parquet_schema('${join(out, "libraries.parquet")}') WHERE name = 'changed_at'`,
  );
  const logical = "TimestampType(isAdjustedToUTC=1, unit=TimeUnit(MILLIS=<null>, MICROS=MicroSeconds(), NANOS=<null>))";
  expect(physical).toEqual([["INT64", "TIMESTAMP_MICROS", logical]]);
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { HOSTILE_OWNER, useAnalystsDatabase } from "./analysts-database.ts";
import { compile, FOLDER, inOrder, readDbtProject, toTestQuery } from "./dbt-project.ts";

const project = readDbtProject();
const SCHEMA = "analysis_of_the_test";

/** `table.column` of a schema's tables and views. */
async function columnsOf(client: pg.Client, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT table_name || '.' || column_name AS name FROM information_schema.columns WHERE table_schema = $1",
    [schema],
  );
  return rows.map(({ name }) => name);
}

/** Creates the models as views in a separate schema, as dbt would; the transaction rolls them back. */
async function build(client: pg.Client): Promise<void> {
  await client.query(`BEGIN; CREATE SCHEMA ${SCHEMA}`);
  for (const model of inOrder(project.models)) {
    await client.query(`CREATE VIEW ${SCHEMA}.${model.name} AS ${compile(project, model, SCHEMA)}`);
  }
}

describe("the dbt project", () => {
  const analysts = useAnalystsDatabase();

  test("requires a version of dbt that has metrics in the properties of models", () => {
    const { name, profile, ...rest } = parse(readFileSync(join(FOLDER, "dbt_project.yml"), "utf8")) as Record<
      string,
      unknown
    >;
    expect({ name, profile, needs: rest["require-dbt-version"] }).toEqual({
      name: "simcat",
      profile: "simcat",
      needs: ">=1.12.0",
    });
    const profiles = parse(readFileSync(join(FOLDER, "profiles.example.yml"), "utf8")) as Record<string, unknown>;
    expect(Object.keys(profiles)).toEqual(["simcat"]);
  });

  test("declares only existing sources and columns that simcat_reader can read", async () => {
    const reader = await analysts.reader();
    for (const { schema, tables } of project.sources) {
      expect(schema).toBe("simcat_report");
      const there = new Set(await columnsOf(reader, schema));
      const declared = tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`));
      expect(declared.filter((column) => !there.has(column))).toEqual([]);
      for (const { name } of tables) await reader.query(`SELECT * FROM ${schema}.${name} LIMIT 1`);
    }
  });

  test("takes the freshness of every source from one table with an existing timestamp", async () => {
    const reader = await analysts.reader();
    const asked = project.sources.flatMap(({ schema, tables }) =>
      tables.flatMap(({ name, config }) => (config === undefined ? [] : [{ table: `${schema}.${name}`, ...config }])),
    );
    expect(asked).toEqual([
      {
        table: "simcat_report.data_complete_as_of",
        loaded_at_field: "complete_as_of",
        freshness: { warn_after: { count: 2, period: "hour" }, error_after: { count: 1, period: "day" } },
      },
    ]);
    const { rows } = await reader.query(
      "SELECT max(complete_as_of) <= now() AND max(complete_as_of) > now() - interval '1 hour' AS fresh FROM simcat_report.data_complete_as_of",
    );
    expect(rows).toEqual([{ fresh: true }]);
  });

  test("describes every model, and only columns that it has", async () => {
    const admin = await analysts.admin();
    await build(admin);
    expect(project.described.map(({ name }) => name).sort()).toEqual(project.models.map(({ name }) => name).sort());
    const there = new Set(await columnsOf(admin, SCHEMA));
    const declared = project.described.flatMap(({ name, columns }) =>
      columns.map((column) => `${name}.${column.name}`),
    );
    expect(declared.filter((column) => !there.has(column))).toEqual([]);
  });

  test("passes its own data tests, even with hostile names", async () => {
    const admin = await analysts.admin();
    await build(admin);
    const ofSources = project.sources.flatMap(({ schema, tables }) => tables.map((table) => ({ schema, ...table })));
    const all = [...ofSources, ...project.described.map((model) => ({ schema: SCHEMA, ...model }))];
    const failed: string[] = [];
    let asked = 0;
    for (const { schema, name, columns } of all) {
      for (const { name: column, data_tests = [] } of columns) {
        for (const one of data_tests) {
          const { rowCount } = await admin.query(toTestQuery(one, `${schema}.${name}`, column, SCHEMA));
          asked += 1;
          if (rowCount !== 0) failed.push(`${JSON.stringify(one)} on ${name}.${column}: ${rowCount} rows`);
        }
      }
    }
    expect(failed).toEqual([]);
    expect(asked).toBe(39);
  });

  test("counts all rows", async () => {
    const admin = await analysts.admin();
    await build(admin);
    const owners = await admin.query(
      `SELECT owner, libraries::int, bytes::int, sizes_unread::int, parents::int, parents_never_run::int FROM ${SCHEMA}.owners ORDER BY owner`,
    );
    expect(owners.rows).toEqual([
      {
        owner: HOSTILE_OWNER,
        libraries: 23,
        bytes: 23 * 240 * 1024,
        sizes_unread: 0,
        parents: 23,
        parents_never_run: 23,
      },
      { owner: "ann", libraries: 2, bytes: 221_184 + 240 * 1024, sizes_unread: 0, parents: 3, parents_never_run: 2 },
      { owner: "bob", libraries: 2, bytes: 240 * 1024, sizes_unread: 1, parents: 0, parents_never_run: 0 },
    ]);
    const runs = await admin.query(`SELECT run_id::int, kind, status, libraries_read FROM ${SCHEMA}.stg_simcat__runs`);
    expect(runs.rows).toEqual([
      { run_id: 1, kind: "backfill", status: "ok", libraries_read: 28 },
      { run_id: 2, kind: "sync", status: "ok", libraries_read: 2 },
    ]);
  });
});

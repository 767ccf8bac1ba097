import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type pg from "pg";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { HOSTILE_OWNER, useAnalystsDatabase } from "./analysts-database.ts";
import { FOLDER } from "./describe-columns.ts";

interface Described {
  readonly name: string;
  /** A test in dbt's YAML: its name, or its name with arguments. `.ci/check-dbt` runs the others. */
  readonly columns: readonly { name: string; data_type?: string; data_tests?: readonly (string | object)[] }[];
  readonly metrics?: readonly { readonly name: string; readonly expr: string }[];
}

const MODELS = join(FOLDER, "models");
const files = readdirSync(MODELS, { recursive: true, encoding: "utf8" });
const read = (extension: string) =>
  files
    .filter((path) => path.endsWith(extension))
    .map((path) => ({ name: basename(path, extension), text: readFileSync(join(MODELS, path), "utf8") }));
const properties = read(".yml").map(({ text }) => parse(text));
const macros = [
  ...readFileSync(join(FOLDER, "macros/keys.sql"), "utf8").matchAll(/\{% macro (\w+)\(\) %\}(.*?)\{% endmacro %\}/g),
];
const models = read(".sql");
const sources: { schema: string; tables: Described[] }[] = properties.flatMap(({ sources = [] }) => sources);
const described: Described[] = properties.flatMap(({ models = [] }) => models);
const SCHEMA = "analysis_of_the_test";

/** Creates the models as views in a separate schema, as dbt would. */
async function build(client: pg.Client): Promise<pg.Client> {
  await client.query(`CREATE SCHEMA ${SCHEMA}`);
  const built = new Set<string>();
  while (built.size < models.length) {
    const ready = models.filter(({ name, text }) => {
      const refs = [...text.matchAll(/\{\{ ref\('(\w+)'\) \}\}/g)];
      return !built.has(name) && refs.every(([, ref = ""]) => built.has(ref));
    });
    if (ready.length === 0) throw new Error("a model depends on one that is missing, or on itself");
    for (const { name, text } of ready) {
      const expanded = macros.reduce((sql, [, macro, body = ""]) => sql.replaceAll(`{{ ${macro}() }}`, body), text);
      const compiled = expanded
        .replaceAll(/\{\{ ref\('(\w+)'\) \}\}/g, `${SCHEMA}.$1`)
        .replaceAll(/\{\{ source\('simcat', '(\w+)'\) \}\}/g, "simcat_report.$1");
      await client.query(`CREATE VIEW ${SCHEMA}.${name} AS ${compiled}`);
      built.add(name);
    }
  }
  return client;
}

// `.ci/check-dbt` runs dbt itself.
describe("the dbt project", () => {
  const analysts = useAnalystsDatabase();

  test("has sources, models and columns that exist, and passes its own data tests even with hostile names", async () => {
    const admin = await build(await analysts.admin());
    expect(described.map(({ name }) => name).sort()).toEqual(models.map(({ name }) => name).sort());
    expect(sources.map(({ schema }) => schema)).toEqual(["simcat_report"]);
    const all = [
      ...sources.flatMap(({ schema, tables }) => tables.map((table) => ({ schema, ...table }))),
      ...described.map((model) => ({ schema: SCHEMA, ...model })),
    ];
    const failed: string[] = [];
    let asked = 0;
    for (const { schema, name, columns } of all) {
      await admin.query(`SELECT ${columns.map((column) => column.name).join(", ")} FROM ${schema}.${name} LIMIT 1`);
      for (const { name: column, data_tests = [] } of columns) {
        const again = `SELECT ${column} FROM ${schema}.${name} GROUP BY 1 HAVING count(*) > 1`;
        const checks = { not_null: `${column} IS NULL`, unique: `${column} IN (${again})` };
        for (const [check, violation] of Object.entries(checks)) {
          if (!data_tests.includes(check)) continue;
          asked += 1;
          const { rowCount } = await admin.query(`SELECT FROM ${schema}.${name} WHERE ${violation}`);
          if (rowCount !== 0) failed.push(`${check} on ${name}.${column}: ${rowCount} rows`);
        }
      }
    }
    expect(failed).toEqual([]);
    expect(asked).toBeGreaterThan(25);
  });

  test("has contracts of the marts with exactly the columns and types that the queries have", async () => {
    const admin = await build(await analysts.admin());
    const marts = described.filter(({ name }) => !name.startsWith("stg_"));
    expect(marts.map(({ name }) => name).sort()).toEqual([
      ...["libraries", "library_versions", "owners", "results", "stale_results", "time_spine_daily"],
    ]);
    for (const { name, columns } of marts) {
      const { rows } = await admin.query<{ name: string; type: string }>(
        `SELECT attname AS name, replace(format_type(atttypid, NULL), 'timestamp with time zone', 'timestamptz') AS type
         FROM pg_attribute WHERE attrelid = '${SCHEMA}.${name}'::regclass AND attnum > 0 ORDER BY attnum`,
      );
      const contract = columns.map((column) => ({ name: column.name, type: column.data_type }));
      const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
      expect(contract.sort(byName), name).toEqual(rows.sort(byName));
    }
  });

  test("counts no event of a library that moved to another owner (fault 240)", async () => {
    const admin = await build(await analysts.admin());
    const metrics = described.find(({ name }) => name === "stg_simcat__activity")?.metrics ?? [];
    const sums = metrics.map(({ expr }) => `count(*) FILTER (WHERE ${expr})::int`).join(", ");
    const count = async () =>
      (await admin.query({ text: `SELECT ${sums} FROM ${SCHEMA}.stg_simcat__activity`, rowMode: "array" })).rows[0];
    expect(await count()).toEqual([0, 0, 1]);
    await admin.query(`
      INSERT INTO simcat.events (owner, library_name, scenario_id, kind, seen_at, run_id, is_result, scenarios, results, bytes)
      SELECT owner, name, id, kind, now(), 2, id = 1, change, change, 0
      FROM (VALUES ('eve', 'Moved', NULL, 'removed', -1), ('ann', 'Moved', NULL, 'added', 0), ('ann', 'Moved', 1, 'added', 1),
        ('ann', 'New', NULL, 'added', 0), ('ann', 'New', 1, 'added', 1)) AS event (owner, name, id, kind, change)`);
    expect(metrics.map(({ name }) => name)).toEqual(["results_added", "libraries_added", "libraries_removed"]);
    expect(await count()).toEqual([1, 1, 1]);
  });

  test("counts all rows", async () => {
    const admin = await build(await analysts.admin());
    const owners = await admin.query({
      text: `SELECT owner, libraries::int, bytes::int, sizes_unread::int, parents::int, parents_never_run::int
             FROM ${SCHEMA}.owners ORDER BY owner`,
      rowMode: "array",
    });
    expect(owners.rows).toEqual([
      [HOSTILE_OWNER, 23, 23 * 240 * 1024, 0, 23, 23],
      ["ann", 2, 221_184 + 240 * 1024, 0, 3, 2],
      ["bob", 2, 240 * 1024, 1, 0, 0],
    ]);
    const runs = await admin.query(`SELECT run_id::int, kind, status, libraries_read FROM ${SCHEMA}.stg_simcat__runs`);
    expect(runs.rows).toEqual([
      { run_id: 1, kind: "backfill", status: "ok", libraries_read: 28 },
      { run_id: 2, kind: "sync", status: "ok", libraries_read: 2 },
    ]);
  });
});

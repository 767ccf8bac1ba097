import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import { expect, onTestFinished, test } from "vitest";
import { readSchemaObjects } from "../../src/db/missing-objects.ts";
import * as schema from "../../src/db/schema.ts";
import { hashViews, loadViews } from "../../src/db/views.ts";
import { useTestDatabase } from "../support/database.ts";

const database = useTestDatabase();
const drizzleKit = (...args: string[]) =>
  promisify(execFile)(process.execPath, ["node_modules/drizzle-kit/bin.cjs", ...args]);

const tables = Object.values(schema)
  .filter((one) => is(one, PgTable))
  .map((one) => getTableConfig(one as PgTable));

/** The texts of each table. */
function byTable(rows: readonly { readonly table: string; readonly text: string }[]): Record<string, string[]> {
  const tables: Record<string, string[]> = {};
  for (const { table, text } of rows) tables[table] = [...(tables[table] ?? []), text];
  return tables;
}

test("the migrated tables have the columns, types, defaults and collations of src/db/schema.ts", async () => {
  const columns = await database().query<{ table: string; text: string }>(
    `SELECT c.relname AS table, format('%s %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
       CASE a.attcollation WHEN '"C"'::regcollation THEN ' COLLATE "C"' END,
       CASE WHEN a.attnotnull THEN ' not null' END,
       CASE WHEN a.atthasdef OR a.attidentity <> '' THEN ' default' END) AS text
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = 'simcat'::regnamespace AND c.relkind = 'r'`,
  );

  // No statement depends on the physical order of columns: a new one is last in the database, whatever its place in the code.
  const sorted = (texts: readonly { table: string; text: string }[]) =>
    byTable(texts.toSorted((a, b) => (a.text < b.text ? -1 : 1)));
  const declared = tables.flatMap((table) =>
    table.columns.map((column) => {
      const type = column.getSQLType().replace("timestamp (6)", "timestamp(6)");
      const hasDefault = column.hasDefault || column.generatedIdentity !== undefined;
      return {
        table: table.name,
        text: `${column.name} ${type}${column.notNull ? " not null" : ""}${hasDefault ? " default" : ""}`,
      };
    }),
  );
  expect(sorted(columns)).toEqual(sorted(declared));
});

test("the migrated tables have the keys, indexes and checks of src/db/schema.ts, and no more", async () => {
  const found = await database().query(
    `SELECT c.relname AS table,
       (SELECT count(*)::int FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary) AS primary,
       (SELECT count(*)::int FROM pg_index i WHERE i.indrelid = c.oid AND NOT i.indisprimary) AS others,
       (SELECT count(*)::int FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f') AS foreign,
       (SELECT count(*)::int FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c') AS checks
     FROM pg_class c WHERE c.relnamespace = 'simcat'::regnamespace AND c.relkind = 'r' ORDER BY c.relname COLLATE "C"`,
  );
  const declared = tables.map(({ name, foreignKeys, checks, indexes }) => ({
    table: name,
    primary: 1,
    foreign: foreignKeys.length,
    checks: checks.length,
    others: indexes.length,
  }));
  expect(found).toEqual(declared.sort((a, b) => (a.table < b.table ? -1 : 1)));
});

/** Regenerate both files with `npx vitest run test/docs/drizzle.test.ts -u` after adding a migration or changing a view. */
test("migrations/meta/_objects.json lists every table, and migrations/views every view", async () => {
  const connection = await database().pool.connect();
  // A schema in the search path would be left out of the definitions.
  await connection.query("SET search_path = pg_catalog");
  const objects = await readSchemaObjects(connection).finally(() => connection.release(true));
  expect(
    loadViews("migrations")
      .files.map(({ name }) => name)
      .sort(),
  ).toEqual(objects.views.toSorted());
  await expect(`${JSON.stringify(objects.tables, null, 2)}\n`).toMatchFileSnapshot(
    "../../migrations/meta/_objects.json",
  );
});

test("migrations/meta/_views.json has the time of the last change of a view", async () => {
  const recorded = JSON.parse(await readFile("migrations/meta/_views.json", "utf8"));
  const hash = createHash("sha256")
    .update(JSON.stringify(hashViews(loadViews("migrations"))))
    .digest("hex");
  const views = { changedAt: hash === recorded.hash ? recorded.changedAt : Date.now(), hash };
  await expect(`${JSON.stringify(views, null, 2)}\n`).toMatchFileSnapshot("../../migrations/meta/_views.json");
});

test("drizzle-kit would generate nothing", async () => {
  const copy = await mkdtemp(join(tmpdir(), "simcat-migrations-"));
  onTestFinished(() => rm(copy, { recursive: true }));
  await cp("migrations", copy, { recursive: true });
  const before = await readdir(copy, { recursive: true });
  // It takes no absolute directory.
  const out = relative(process.cwd(), copy);
  const { stdout } = await drizzleKit(
    "generate",
    "--dialect=postgresql",
    "--schema=./src/db/schema.ts",
    `--out=${out}`,
  );
  expect(stdout).toContain("No schema changes");
  expect(await readdir(copy, { recursive: true })).toEqual(before);
});

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, readdir, readFile } from "node:fs/promises";
import { relative } from "node:path";
import { promisify } from "node:util";
import { is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { readObjectNames } from "../../src/db/missing-objects.ts";
import * as schema from "../../src/db/schema.ts";
import { hashViews, loadViews } from "../../src/db/views.ts";
import { useTestDatabase } from "../support/database.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

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
  const declared = tables.map(({ name, columns, primaryKeys, foreignKeys, checks, indexes }) => ({
    table: name,
    primary: primaryKeys.length + columns.filter(({ primary }) => primary).length,
    foreign: foreignKeys.length,
    checks: checks.length,
    others: indexes.length,
  }));
  expect(found).toEqual(declared.sort((a, b) => (a.table < b.table ? -1 : 1)));
});

/** Each object of the tables with the statement that creates it again; foreign keys need the keys of other tables first. */
const TABLE_OBJECTS = `
SELECT 1 AS part, relname AS first, 0 AS second, 'table simcat.' || relname AS name, NULL AS statement
FROM pg_class WHERE relnamespace = 'simcat'::regnamespace AND relkind = 'r'
UNION ALL
SELECT 2, relname, attnum, format('column simcat.%s.%s', relname, attname), NULL
FROM pg_attribute JOIN pg_class r ON r.oid = attrelid
WHERE relnamespace = 'simcat'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
UNION ALL
SELECT CASE contype WHEN 'f' THEN 4 ELSE 3 END, conname, 0, format('constraint %s of simcat.%s', conname, relname),
  format('ALTER TABLE simcat.%s ADD CONSTRAINT %s %s;', relname, conname, pg_get_constraintdef(c.oid))
FROM pg_constraint c JOIN pg_class r ON r.oid = conrelid
WHERE relnamespace = 'simcat'::regnamespace AND contype IN ('p', 'u', 'f', 'c')
UNION ALL
SELECT 5, i.relname, 0, format('index %s of simcat.%s', i.relname, r.relname),
  format('DROP INDEX IF EXISTS simcat.%s; %s;', i.relname, pg_get_indexdef(i.oid))
FROM pg_index x JOIN pg_class i ON i.oid = indexrelid JOIN pg_class r ON r.oid = indrelid
WHERE r.relnamespace = 'simcat'::regnamespace AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.oid AND contype <> 'f')
ORDER BY part, first, second`;

/** Regenerate both files with `npx vitest run test/docs/drizzle.test.ts -u` after adding a migration or changing a view. */
test("migrations/meta/_objects.json lists every object of the tables, and migrations/views every view", async () => {
  const connection = await database().pool.connect();
  // A schema in the search path would be left out of the definitions.
  await connection.query("SET search_path = pg_catalog");
  const { rows } = await connection.query<{ name: string; statement: string | null }>(TABLE_OBJECTS);
  const names = await readObjectNames(connection).finally(() => connection.release(true));
  const labels = loadViews("migrations").files.map(({ label }) => label);
  expect([...names].filter((name) => name.includes("simcat_report")).sort()).toEqual(labels.sort());
  expect(rows.filter(({ name }) => !names.has(name))).toEqual([]);
  const objects = Object.fromEntries(rows.map(({ name, statement }) => [name, statement]));
  await expect(`${JSON.stringify(objects, null, 2)}\n`).toMatchFileSnapshot("../../migrations/meta/_objects.json");
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
  const copy = temporaryDirectory();
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

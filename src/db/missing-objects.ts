import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError } from "../errors.ts";
import { type Connection, oneRow, type Pool } from "./connect.ts";
import { MIGRATIONS_FOLDER } from "./schema-state.ts";
import type { ViewFile, Views } from "./views.ts";

/** The tables of schema `simcat`, by their full names. */
type Tables = Readonly<Record<string, TableObjects>>;

interface TableObjects {
  readonly columns: readonly string[];
  /** Definitions of keys and checks by name, such as `PRIMARY KEY (name)`. */
  readonly constraints: Readonly<Record<string, string>>;
  /** Statements that create an index, by its name. Without the indexes of constraints. */
  readonly indexes: Readonly<Record<string, string>>;
}

/** An invalid index counts as missing. Leaves out `NOT NULL`, which is a constraint only since Postgres 18. */
const SELECT_OBJECTS = `
WITH constraints AS (
  SELECT conrelid, conindid, conname, pg_get_constraintdef(oid) AS definition
  FROM pg_constraint WHERE contype IN ('p', 'u', 'f', 'c')
), indexes AS (
  SELECT x.indrelid, i.relname, pg_get_indexdef(i.oid) AS definition
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
  WHERE x.indisvalid AND NOT EXISTS (SELECT FROM constraints WHERE conrelid = x.indrelid AND conindid = i.oid)
)
SELECT
  (SELECT coalesce(jsonb_object_agg('simcat.' || r.relname, jsonb_build_object(
    'columns', ARRAY(SELECT attname FROM pg_attribute WHERE attrelid = r.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum),
    'constraints', (SELECT coalesce(jsonb_object_agg(conname, definition), '{}') FROM constraints WHERE conrelid = r.oid),
    'indexes', (SELECT coalesce(jsonb_object_agg(relname, definition), '{}') FROM indexes WHERE indrelid = r.oid)
  )), '{}') FROM pg_class r WHERE relnamespace = to_regnamespace('simcat') AND relkind IN ('r', 'p')) AS tables,
  ARRAY(SELECT nspname::text FROM pg_namespace WHERE nspname = 'simcat_report'
    UNION ALL SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace('simcat_report') AND relkind IN ('v', 'm')
    UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = to_regnamespace('simcat_report')) AS views`;

/** `views`: the names of all views and functions, and of their schema. */
export async function readSchemaObjects(
  connection: Connection | Pool,
): Promise<{ readonly tables: Tables; readonly views: readonly string[] }> {
  return oneRow(await connection.query(SELECT_OBJECTS));
}

/** Objects that the applied migrations created and that are missing. */
export interface MissingObjects {
  /** All of them, such as `table simcat.leases` or `column simcat.libraries.listed`. */
  readonly names: readonly string[];
  /** The files of those of them that hold no rows: views and functions. */
  readonly views: readonly ViewFile[];
  /** Statements that create the missing constraints and indexes of the tables that are left. */
  readonly statements: readonly string[];
  /** simcat's tables that are left. */
  readonly tables: readonly string[];
  readonly hasLostRows: boolean;
}

/** The columns of all tables. Definitions of constraints and indexes would wait for a lock on their table. */
const SELECT_COLUMNS = `
SELECT 'simcat.' || relname AS table,
  ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = r.oid AND attnum > 0 AND NOT attisdropped) AS columns
FROM pg_class r WHERE relnamespace = to_regnamespace('simcat') AND relkind IN ('r', 'p')`;

/**
 * Looks for the tables and columns only, and waits for no lock.
 * @throws ConfigurationError if a table or a column is missing
 */
export async function assertTables(connection: Connection): Promise<void> {
  const columnsOnly = ({ columns }: Pick<Tables[string], "columns">) => ({ columns, constraints: {}, indexes: {} });
  const expected = Object.entries(await readExpectedTables()).map(([table, one]) => [table, columnsOnly(one)]);
  const { rows } = await connection.query<{ table: string; columns: string[] }>(SELECT_COLUMNS);
  const found = rows.map((row) => [row.table, columnsOnly(row)]);
  const missing = findMissingTables(Object.fromEntries(expected), Object.fromEntries(found));
  if (missing.hasLostRows) throw missingError({ ...missing, views: [] });
}

const readExpectedTables = async (): Promise<Tables> =>
  JSON.parse(await readFile(join(MIGRATIONS_FOLDER, "meta/_objects.json"), "utf8"));

/** Compares a database that has all migrations with the tables that they create (migrations/meta/_objects.json) and with the views. */
export async function readMissingObjects(connection: Connection | Pool, { files }: Views): Promise<MissingObjects> {
  const expected = await readExpectedTables();
  const found = await readSchemaObjects(connection);
  const missing = findMissingTables(expected, found.tables);
  const views = files.filter(({ name }) => !found.views.includes(name));
  return {
    ...missing,
    names: [...missing.names, ...views.map(({ label }) => label)],
    views,
  };
}

function findMissingTables(expected: Tables, found: Tables): Omit<MissingObjects, "views"> {
  const lost: string[] = [];
  const tables: string[] = [];
  const constraints: string[] = [];
  const indexes: string[] = [];
  const statements: string[] = [];
  for (const [table, wanted] of Object.entries(expected)) {
    const actual = found[table];
    if (actual === undefined) {
      lost.push(`table ${table}`);
      continue;
    }
    tables.push(table);
    lost.push(...without(wanted.columns, actual.columns).map((column) => `column ${table}.${column}`));
    for (const name of without(Object.keys(wanted.constraints), Object.keys(actual.constraints))) {
      constraints.push(`constraint ${name} of ${table}`);
      statements.push(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${wanted.constraints[name]}`);
    }
    for (const name of without(Object.keys(wanted.indexes), Object.keys(actual.indexes))) {
      indexes.push(`index ${name} of ${table}`);
      statements.push(`DROP INDEX IF EXISTS ${table.replace(/\.\w+$/, `.${name}`)}`, `${wanted.indexes[name]}`);
    }
  }
  // A foreign key needs the other table's primary key.
  const isLast = (statement: string) => Number(statement.includes(" FOREIGN KEY "));
  return {
    names: [...lost, ...constraints, ...indexes],
    statements: statements.sort((a, b) => isLast(a) - isLast(b)),
    tables,
    hasLostRows: lost.length > 0,
  };
}

function without(names: readonly string[], found: readonly string[]): string[] {
  const known = new Set(found);
  return names.filter((name) => !known.has(name));
}

const MAX_NAMED_OBJECTS = 5;

/** The first few names. */
export function formatMissing({ names }: MissingObjects): string {
  const more = names.length > MAX_NAMED_OBJECTS ? ` and ${names.length - MAX_NAMED_OBJECTS} more` : "";
  return names.slice(0, MAX_NAMED_OBJECTS).join(", ") + more;
}

const START_OVER =
  "DROP SCHEMA IF EXISTS simcat, simcat_report, simcat_migrations CASCADE; then run simcat migrate and simcat backfill";

/** How to get the missing objects back. */
export function hintForMissing({ tables, statements, views, hasLostRows }: MissingObjects): string {
  if (tables.length === 0) return `no table is left, so start over: ${START_OVER}`;
  if (hasLostRows) {
    return `restore them from a backup; to start over instead, which deletes the history: ${START_OVER}`;
  }
  const migrate =
    "run simcat migrate, which creates missing views and functions again, and deploy/roles.sql if you use its roles";
  const repair = `as the owner of the tables run ${statements.map((statement) => `${statement};`).join(" ")}`;
  const steps = [...(statements.length > 0 ? [repair] : []), ...(views.length > 0 ? [migrate] : [])];
  return `no row is lost; ${steps.join(" Then ")}`;
}

/** The error of a database that has all migrations and not all of their objects. */
export const missingError = (missing: MissingObjects) =>
  new ConfigurationError(
    `all migrations are applied, but the database lacks ${formatMissing(missing)}; ${hintForMissing(missing)}`,
  );

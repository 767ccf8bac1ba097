import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError } from "../errors.ts";
import type { Connection } from "./connect.ts";
import { MIGRATIONS_FOLDER } from "./schema-state.ts";
import type { ViewFile } from "./views.ts";

/** From the catalogue, because reading definitions would wait for a lock on their table. An invalid index counts as missing. */
const SELECT_NAMES = `
SELECT 'table simcat.' || relname AS name FROM pg_class WHERE relnamespace = to_regnamespace('simcat') AND relkind IN ('r', 'p')
UNION ALL SELECT 'column simcat.' || relname || '.' || attname FROM pg_attribute a JOIN pg_class r ON r.oid = attrelid
  WHERE relnamespace = to_regnamespace('simcat') AND attnum > 0 AND NOT attisdropped
UNION ALL SELECT 'constraint ' || conname || ' of simcat.' || relname FROM pg_constraint JOIN pg_class r ON r.oid = conrelid
  WHERE relnamespace = to_regnamespace('simcat')
UNION ALL SELECT 'index ' || i.relname || ' of simcat.' || r.relname
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class r ON r.oid = x.indrelid
  WHERE r.relnamespace = to_regnamespace('simcat') AND x.indisvalid
UNION ALL SELECT 'schema ' || nspname FROM pg_namespace WHERE nspname = 'simcat_report'
UNION ALL SELECT 'view simcat_report.' || relname FROM pg_class WHERE relnamespace = to_regnamespace('simcat_report') AND relkind IN ('v', 'm')
UNION ALL SELECT 'function simcat_report.' || proname FROM pg_proc WHERE pronamespace = to_regnamespace('simcat_report')`;

export async function readObjectNames(connection: Connection): Promise<ReadonlySet<string>> {
  const { rows } = await connection.query<{ name: string }>(SELECT_NAMES);
  return new Set(rows.map(({ name }) => name));
}

/**
 * Compares a database that has all migrations with the views and with migrations/meta/_objects.json: for each object of the
 * tables the statement that creates it again, or null for a table or a column, whose rows are lost.
 */
export async function readMissingObjects(connection: Connection, files: readonly ViewFile[]) {
  const found = await readObjectNames(connection);
  const objects: [name: string, statement: string | null][] = Object.entries(
    JSON.parse(await readFile(join(MIGRATIONS_FOLDER, "meta/_objects.json"), "utf8")),
  );
  const tables = objects.flatMap(([name]) => /^table (.*)/.exec(name)?.[1] ?? []);
  const lost = tables.filter((table) => !found.has(`table ${table}`));
  const isOfLostTable = (name: string) =>
    lost.some((table) => name.startsWith(`column ${table}.`) || name.endsWith(` of ${table}`));
  const missing = objects.filter(([name]) => !found.has(name) && !isOfLostTable(name));
  const views = files.filter(({ label }) => !found.has(label));
  return {
    /** All of them, such as `table simcat.leases`, but nothing of a missing table. */
    names: [...missing.map(([name]) => name), ...views.map(({ label }) => label)],
    /** The files of those of them that are views or functions. */
    views,
    /** simcat's tables that are left. */
    tables: tables.filter((table) => !lost.includes(table)),
    /** True if a table or a column is missing. */
    hasLostRows: missing.some(([, statement]) => statement === null),
    /** They create the missing constraints and indexes. */
    statements: missing.flatMap(([, statement]) => statement ?? []),
  };
}

/** @throws ConfigurationError if a table or a column is missing. Waits for no lock. */
export async function assertTables(connection: Connection): Promise<void> {
  const missing = await readMissingObjects(connection, []);
  if (missing.hasLostRows) throw missingError(missing);
}

const MAX_NAMED_OBJECTS = 5;
const START_OVER =
  "DROP SCHEMA IF EXISTS simcat, simcat_report, simcat_migrations CASCADE; then run simcat migrate and simcat backfill";
const MIGRATE =
  "run simcat migrate, which creates missing views and functions again, and deploy/roles.sql if you use its roles";

/** The error of a database that has all migrations and not all of their objects. */
export function missingError(missing: Awaited<ReturnType<typeof readMissingObjects>>): ConfigurationError {
  const { names, views, tables, hasLostRows, statements } = missing;
  const more = names.length > MAX_NAMED_OBJECTS ? ` and ${names.length - MAX_NAMED_OBJECTS} more` : "";
  const named = names.slice(0, MAX_NAMED_OBJECTS).join(", ") + more;
  const repair = `as the owner of the tables run ${statements.join(" ")}`;
  const steps = [...(statements.length > 0 ? [repair] : []), ...(views.length > 0 ? [MIGRATE] : [])];
  const restore = `restore them from a backup; to start over instead, which deletes the history: ${START_OVER}`;
  const hint = hasLostRows ? restore : `no row is lost; ${steps.join(" Then ")}`;
  return new ConfigurationError(`all migrations are applied, but the database lacks ${named}`, {
    hint: tables.length === 0 ? `no table is left, so start over: ${START_OVER}` : hint,
  });
}

import { fileURLToPath } from "node:url";
import { type MigrationMeta, readMigrationFiles } from "drizzle-orm/migrator";
import { ConfigurationError } from "../errors.ts";
import type { Connection, Pool } from "./connect.ts";
import { SCHEMAS } from "./schema-names.ts";

export const MIGRATIONS_FOLDER = fileURLToPath(new URL("../../migrations", import.meta.url));
/** drizzle's table of the applied migrations. */
export const JOURNAL = `${SCHEMAS.journal}.__drizzle_migrations`;

/** The schema of a database compared with this program's migrations. `version`: how many were applied. */
export type SchemaState =
  | { readonly kind: "current"; readonly version: number }
  /** `version` is 0 for a database without simcat. */
  | { readonly kind: "behind"; readonly version: number; readonly missing: number }
  | { readonly kind: "newer"; readonly version: number };

export async function readSchemaState(connection: Connection | Pool): Promise<SchemaState> {
  return toSchemaState(loadMigrations(), await readJournal(connection));
}

/** The same; null for a role that may not read the journal, such as a reader of the views. */
export async function readVisibleSchemaState(connection: Connection): Promise<SchemaState | null> {
  const { rows } = await connection.query<{ visible: boolean }>(
    `SELECT has_schema_privilege(n.oid, 'USAGE') AND coalesce(has_table_privilege(c.oid, 'SELECT'), true) AS visible
     FROM pg_namespace n LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = '__drizzle_migrations'
     WHERE n.nspname = $1`,
    [SCHEMAS.journal],
  );
  return rows[0]?.visible === false ? null : readSchemaState(connection);
}

/** Loads the migrations in their order. */
export function loadMigrations(folder = MIGRATIONS_FOLDER): MigrationMeta[] {
  return readMigrationFiles({ migrationsFolder: folder });
}

/** Reads which migrations were applied, by their `folderMillis`; none if there is no journal. */
export async function readJournal(connection: Connection | Pool): Promise<number[]> {
  const { rows } = await connection.query<{ journal: string | null }>("SELECT to_regclass($1)::text AS journal", [
    JOURNAL,
  ]);
  if (rows[0]?.journal == null) return [];
  const applied = await connection.query<{ created_at: number }>(`SELECT created_at FROM ${JOURNAL} ORDER BY id`);
  return applied.rows.map((row) => row.created_at);
}

export function toSchemaState(migrations: readonly MigrationMeta[], applied: readonly number[]): SchemaState {
  const known = new Set(migrations.map((migration) => migration.folderMillis));
  if (applied.some((when) => !known.has(when))) return { kind: "newer", version: applied.length };
  const missing = migrations.length - applied.length;
  return missing === 0
    ? { kind: "current", version: applied.length }
    : { kind: "behind", version: applied.length, missing };
}

/** @throws ConfigurationError if the schema is newer than this program */
export function assertNotNewer(state: SchemaState): void {
  if (state.kind !== "newer") return;
  throw new ConfigurationError(
    "the database's schema is newer than this simcat: a later version has migrated it; nothing was written. Run that version, or a later one",
  );
}

/** @throws ConfigurationError unless the schema is that of this program */
export function assertUsable(state: SchemaState): void {
  assertNotNewer(state);
  if (state.kind !== "behind") return;
  const problem =
    state.version === 0
      ? "the database has no simcat schema yet"
      : `the database's schema lacks ${state.missing} of simcat's migrations`;
  throw new ConfigurationError(
    `${problem}; run: simcat migrate (if SIMCAT_AUTO_MIGRATE is true, simcat sync and simcat backfill migrate it themselves)`,
  );
}

import { fileURLToPath } from "node:url";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { ConfigurationError } from "../errors.ts";
import { type Connection, connect, disconnect, type Pool } from "./connect.ts";
import { namingDatabase } from "./failures.ts";
import { withTransaction } from "./transaction.ts";

const MIGRATIONS = fileURLToPath(new URL("../../migrations", import.meta.url));
/** drizzle's own journal, apart from `simcat`, so that dropping the one never confuses the other. */
const JOURNAL = "simcat_migrations.__drizzle_migrations";
/** Any constant will do, as long as it stays: two migrating processes must ask for the same lock. */
const LOCK = 7_264_112_009;

export type SchemaState =
  | { readonly kind: "current"; readonly version: number }
  | { readonly kind: "behind"; readonly version: number; readonly missing: number }
  | { readonly kind: "newer"; readonly version: number };

/** The schema's version is the number of migrations applied; 0 for a database without simcat. */
export async function readSchemaState(connection: Connection | Pool): Promise<SchemaState> {
  const migrations = readMigrationFiles({ migrationsFolder: MIGRATIONS });
  const known = new Set(migrations.map((migration) => migration.folderMillis));
  const applied = await readApplied(connection);
  if (applied.some((when) => !known.has(when))) return { kind: "newer", version: applied.length };
  const missing = migrations.length - applied.length;
  return missing === 0
    ? { kind: "current", version: applied.length }
    : { kind: "behind", version: applied.length, missing };
}

/**
 * Brings the schema up to date in one transaction under a lock, so that of several processes one does it and the others find it done.
 * @returns how many migrations were applied
 * @throws ConfigurationError when the schema is newer than this program; nothing is written then
 */
export async function migrate(url: string, signal: AbortSignal): Promise<number> {
  const pool = await connect(url, { max: 1 }, signal);
  try {
    return await withTransaction(pool, { doing: "migrating the schema", lockTimeoutMs: 60_000 }, applyMissing, signal);
  } catch (error) {
    if (error instanceof ConfigurationError || signal.aborted) throw error;
    throw namingDatabase("migrating the schema", error);
  } finally {
    await disconnect(pool);
  }
}

async function applyMissing(connection: Connection): Promise<number> {
  await connection.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
  assertUsable(await readSchemaState(connection), { mayBeBehind: true });
  const applied = new Set(await readApplied(connection));
  const missing = readMigrationFiles({ migrationsFolder: MIGRATIONS }).filter((one) => !applied.has(one.folderMillis));
  if (missing.length === 0) return 0;
  await connection.query(
    `CREATE SCHEMA IF NOT EXISTS simcat_migrations;
     CREATE TABLE IF NOT EXISTS ${JOURNAL} (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)`,
  );
  for (const migration of missing) {
    for (const statement of migration.sql) await connection.query(statement);
    await connection.query(`INSERT INTO ${JOURNAL} (hash, created_at) VALUES ($1, $2)`, [
      migration.hash,
      migration.folderMillis,
    ]);
  }
  return missing.length;
}

/** @throws ConfigurationError unless this program can work with the schema as it is */
export function assertUsable(state: SchemaState, { mayBeBehind = false } = {}): void {
  if (state.kind === "newer") {
    throw new ConfigurationError(
      "the database's schema is newer than this simcat: a later version has migrated it; nothing was written. Run that version, or a later one",
    );
  }
  if (state.kind === "behind" && !mayBeBehind) {
    const lack =
      state.version === 0
        ? "the database holds nothing of simcat's yet"
        : `the database's schema lacks ${state.missing} of simcat's migrations`;
    throw new ConfigurationError(
      `${lack}; run: simcat migrate (with SIMCAT_AUTO_MIGRATE at true, simcat sync and simcat backfill do so by themselves)`,
    );
  }
}

async function readApplied(connection: Connection | Pool): Promise<number[]> {
  const { rows } = await connection.query<{ journal: string | null }>("SELECT to_regclass($1)::text AS journal", [
    JOURNAL,
  ]);
  if (rows[0]?.journal == null) return [];
  const applied = await connection.query<{ created_at: number }>(`SELECT created_at FROM ${JOURNAL} ORDER BY id`);
  return applied.rows.map((row) => row.created_at);
}

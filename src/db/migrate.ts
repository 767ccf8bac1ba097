import { fileURLToPath } from "node:url";
import { type MigrationMeta, readMigrationFiles } from "drizzle-orm/migrator";
import { ConfigurationError } from "../errors.ts";
import { DAY_MS } from "../units.ts";
import { type Connection, type ConnectOptions, connect, disconnect, type Pool, within } from "./connect.ts";
import { namingDatabase } from "./failures.ts";
import { formatMissing, hintForMissing, type MissingObjects, readMissingObjects } from "./missing-objects.ts";
import { withTransaction } from "./transaction.ts";

const MIGRATIONS = fileURLToPath(new URL("../../migrations", import.meta.url));
/** drizzle's own journal, apart from `simcat`, so that dropping the one never confuses the other. */
const JOURNAL_SCHEMA = "simcat_migrations";
const JOURNAL = `${JOURNAL_SCHEMA}.__drizzle_migrations`;
/** Any constant will do, as long as it stays: two migrating processes must ask for the same lock. */
const LOCK = 7_264_112_009;
/** A statement that waits for a table's lock blocks every later reader. */
const LOCK_TIMEOUT_MS = 2_500;
/** Some five minutes, with the pauses in between. */
const LOCK_ATTEMPTS = 80;
/** Building an index on a large table takes as long as it takes. */
const BUILD_MS = DAY_MS;
/** Settings of a role under which the migrations would mean something else. */
const AS_WRITTEN = `SET LOCAL standard_conforming_strings = on; SET LOCAL search_path = pg_catalog;
  SET LOCAL default_table_access_method = heap`;

export type SchemaState =
  | { readonly kind: "current"; readonly version: number }
  | { readonly kind: "behind"; readonly version: number; readonly missing: number }
  | { readonly kind: "newer"; readonly version: number };

/** The schema's version is the number of migrations applied; 0 for a database without simcat. */
export async function readSchemaState(connection: Connection | Pool): Promise<SchemaState> {
  return toSchemaState(readMigrationFiles({ migrationsFolder: MIGRATIONS }), await readApplied(connection));
}

function toSchemaState(migrations: readonly MigrationMeta[], applied: readonly number[]): SchemaState {
  const known = new Set(migrations.map((migration) => migration.folderMillis));
  if (applied.some((when) => !known.has(when))) return { kind: "newer", version: applied.length };
  const missing = migrations.length - applied.length;
  return missing === 0
    ? { kind: "current", version: applied.length }
    : { kind: "behind", version: applied.length, missing };
}

export interface MigrateOptions extends Pick<ConnectOptions, "onWait"> {
  readonly folder?: string;
}

/**
 * Brings the schema up to date under a lock, so that of several processes one does it and the others find it done. All that is
 * missing is one transaction, except indexes that are built concurrently on tables that exist already.
 * @returns how many migrations were applied
 * @throws ConfigurationError when the schema is newer than this program; nothing is written then
 */
export async function migrate(
  url: string,
  signal: AbortSignal,
  { folder = MIGRATIONS, ...options }: MigrateOptions = {},
): Promise<number> {
  const pool = await connect(url, { max: 2, ...options }, signal);
  const migrations = readMigrationFiles({ migrationsFolder: folder });
  const inTransaction = <T>(work: (connection: Connection) => Promise<T>) =>
    withTransaction(
      pool,
      { doing: "migrating the schema", lockTimeoutMs: LOCK_TIMEOUT_MS, lockAttempts: LOCK_ATTEMPTS },
      async (connection) => {
        await connection.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
        await connection.query(AS_WRITTEN);
        return work(connection);
      },
      signal,
    );
  try {
    for (let total = 0; ; ) {
      const { applied, next } = await inTransaction(async (connection) => {
        const result = await applyMissing(connection, migrations);
        if (result.next === null) await assertComplete(connection);
        return result;
      });
      total += applied;
      if (next === null) return total;
      total += await inTransaction((connection) => applyConcurrently(connection, pool, next));
    }
  } catch (error) {
    if (error instanceof ConfigurationError || signal.aborted) throw error;
    throw namingDatabase("migrating the schema", error);
  } finally {
    await disconnect(pool);
  }
}

interface Applied {
  readonly applied: number;
  /** The migration that must be applied next, outside of a transaction; null when nothing is missing any more. */
  readonly next: MigrationMeta | null;
}

async function applyMissing(connection: Connection, migrations: readonly MigrationMeta[]): Promise<Applied> {
  const done = await readApplied(connection);
  assertUsable(toSchemaState(migrations, done), { mayBeBehind: true });
  const missing = migrations.filter((one) => !done.includes(one.folderMillis));
  if (missing.length === 0) return { applied: 0, next: null };
  await createSchema(connection, JOURNAL_SCHEMA);
  await connection.query(
    `CREATE TABLE IF NOT EXISTS ${JOURNAL} (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)`,
  );
  // In a new database no table has rows or readers.
  const isNew = done.length === 0;
  const at = isNew ? -1 : missing.findIndex(isConcurrent);
  const now = at === -1 ? missing : missing.slice(0, at);
  for (const migration of now) {
    for (const statement of migration.sql) await applyStatement(connection, statement.replace(CONCURRENTLY, "INDEX"));
    await record(connection, migration);
  }
  return { applied: now.length, next: missing[at] ?? null };
}

async function applyStatement(connection: Connection, statement: string): Promise<void> {
  const schema = /^(?:--.*\n|\s)*CREATE SCHEMA IF NOT EXISTS "?(\w+)"?;?\s*$/.exec(statement)?.[1];
  if (schema === undefined) await connection.query(statement);
  else await createSchema(connection, schema);
}

/** With IF NOT EXISTS Postgres demands CREATE on the database even where the schema exists. */
async function createSchema(connection: Connection, name: string): Promise<void> {
  const { rowCount } = await connection.query("SELECT FROM pg_namespace WHERE nspname = $1", [name]);
  if (rowCount === 0) await connection.query(`CREATE SCHEMA ${name}`);
}

const CONCURRENTLY = /\bINDEX CONCURRENTLY\b/;
const isConcurrent = ({ sql }: MigrationMeta) => sql.some((statement) => CONCURRENTLY.test(statement));

/**
 * Applies a migration whose statements refuse to run in a transaction, on a second connection. `connection` holds the lock
 * meanwhile. Building the index does not wait for its transaction, because it has no snapshot between two statements.
 */
async function applyConcurrently(connection: Connection, pool: Pool, migration: MigrationMeta): Promise<number> {
  if ((await readApplied(connection)).includes(migration.folderMillis)) return 0;
  await connection.query("SET LOCAL idle_in_transaction_session_timeout = 0");
  const builder = await pool.connect();
  try {
    await builder.query("SET statement_timeout = 0; SET lock_timeout = 0");
    for (const statement of migration.sql) await buildIndex(builder, statement);
    // Behind a pooler another client gets this session next.
    await builder.query("RESET statement_timeout; RESET lock_timeout");
  } finally {
    builder.release(true);
  }
  await record(connection, migration);
  return 1;
}

/** Builds the index unless it is there. An interrupted build leaves an invalid one, which is dropped first. */
async function buildIndex(builder: Connection, statement: string): Promise<void> {
  const [, name, schema] =
    /CREATE (?:UNIQUE )?INDEX CONCURRENTLY (?:IF NOT EXISTS )?"?(\w+)"? ON "?(\w+)"?\./.exec(statement) ?? [];
  if (name !== undefined) {
    const index = `${schema}."${name}"`;
    const { rows } = await builder.query<{ valid: boolean }>(
      "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)",
      [index],
    );
    if (rows[0]?.valid === true) return;
    if (rows[0]?.valid === false) await builder.query(within(BUILD_MS, `DROP INDEX CONCURRENTLY ${index}`));
  }
  await builder.query(within(BUILD_MS, statement));
}

async function record(connection: Connection, { hash, folderMillis }: MigrationMeta): Promise<void> {
  await connection.query(`INSERT INTO ${JOURNAL} (hash, created_at) VALUES ($1, $2)`, [hash, folderMillis]);
}

/** Tables, columns and views that are gone although they were migrated. */
export function readMissing(connection: Connection | Pool): Promise<MissingObjects> {
  return readMissingObjects(connection, readMigrationFiles({ migrationsFolder: MIGRATIONS }));
}

/** @throws ConfigurationError when tables, columns or views are gone that the journal says were made */
async function assertComplete(connection: Connection): Promise<void> {
  const missing = await readMissing(connection);
  if (missing.names.length === 0) return;
  throw new ConfigurationError(
    `all migrations are applied, but the database lacks ${formatMissing(missing)}; ${hintForMissing(missing)}`,
  );
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

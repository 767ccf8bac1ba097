import type { MigrationMeta } from "drizzle-orm/migrator";
import { type Connection, type ConnectOptions, connect, disconnect } from "./connect.ts";
import { missingError, readMissingObjects } from "./missing-objects.ts";
import {
  assertMigratable,
  isReplaced,
  JOURNAL,
  loadSchema,
  readJournal,
  type Schema,
  saveViews,
  toSchemaState,
} from "./schema-state.ts";
import { withTransaction } from "./transaction.ts";
import { applyViews, readViewGrants, restoreViewGrants, type ViewFile, type Views } from "./views.ts";

/** An arbitrary constant that never changes, because two migrating processes must ask for the same lock. */
const LOCK = 7_264_112_009;
/** Short, because a statement that waits for a table's lock blocks every later reader. */
const MIGRATION_LOCK_TIMEOUT_MS = 2_500;
/** About five minutes, with the pauses between the attempts. */
const LOCK_ATTEMPTS = 80;
/** Settings of a role that would change the meaning of the migrations. */
const FIXED_SETTINGS = "SET LOCAL search_path = pg_catalog; SET LOCAL default_table_access_method = heap";

const CREATE_JOURNAL = `CREATE TABLE IF NOT EXISTS ${JOURNAL} (id serial PRIMARY KEY, hash text NOT NULL, created_at bigint)`;

/** A run of an earlier version does not write what a migration adds, such as events. The next run continues it. */
const END_RUNS =
  "UPDATE simcat.leases SET token = token + 1, expires_at = clock_timestamp() WHERE expires_at > '-infinity'";

interface MigrateOptions extends Pick<ConnectOptions, "onWait" | "slowAfterMs"> {
  readonly folder?: string;
}

/**
 * Brings the schema up to date under a lock: of several processes, one migrates, and the others find it done. All missing
 * migrations and the views are one transaction.
 * @throws ConfigurationError if the schema is newer than this program; if a table, a column, a constraint or an index of an
 * applied migration is missing; or if a view that must be dropped is used by one that is not simcat's
 */
export async function migrate(url: string, signal: AbortSignal, { folder, ...options }: MigrateOptions = {}) {
  const pool = await connect(url, { max: 1, ...options }, signal);
  try {
    const schema = loadSchema(folder);
    return await withTransaction(
      pool,
      { operation: "migrating the schema", lockTimeoutMs: MIGRATION_LOCK_TIMEOUT_MS, lockAttempts: LOCK_ATTEMPTS },
      async (connection) => {
        await connection.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
        await connection.query(FIXED_SETTINGS);
        return applyMissing(connection, schema);
      },
      signal,
    );
  } finally {
    await disconnect(pool);
  }
}

/** Applies the missing migrations, then updates the views. */
async function applyMissing(connection: Connection, schema: Schema) {
  const [baseline] = schema.migrations;
  if (baseline !== undefined && isReplaced(await readJournal(connection))) {
    await connection.query(`DELETE FROM ${JOURNAL}`);
    await saveMigration(connection, baseline);
  }
  const journal = await readJournal(connection);
  const state = toSchemaState(schema, journal);
  assertMigratable(state);
  const recorded = { ...journal.views?.hashes };
  for (const name of ["simcat", "simcat_migrations"]) await createSchema(connection, name);
  if (await createSchema(connection, "simcat_report")) delete recorded.simcat_report;
  if (state.kind === "behind") await connection.query(CREATE_JOURNAL);
  const before = await readViewGrants(connection);
  const missing = schema.migrations.filter(({ folderMillis }) => !journal.migrations.includes(folderMillis));
  // Before the locks of the migrations, for which the run's transactions would wait while they hold the lease.
  if (journal.migrations.length > 0 && missing.length > 0) await connection.query(END_RUNS);
  for (const migration of missing) {
    for (const statement of migration.sql) await connection.query(statement);
    await saveMigration(connection, migration);
  }
  const lost = journal.migrations.length === 0 ? [] : await readMissingViews(connection, schema.views);
  const recreated = lost.filter(({ name }) => name in recorded);
  for (const { name } of recreated) delete recorded[name];
  await applyViews(connection, schema.views, recorded);
  await restoreViewGrants(connection, before);
  if (state.kind === "behind") await saveViews(connection, schema.views);
  await setSearchPath(connection);
  return {
    /** How many migrations were applied. Changed views count as one. */
    applied: state.kind === "behind" ? state.missing : 0,
    /** Views and functions that were missing although they had been created, such as `view simcat_report.x`. */
    recreated: recreated.map(({ label }) => label),
  };
}

/** Returns whether the schema was missing. IF NOT EXISTS would demand CREATE on the database even if it exists. */
async function createSchema(connection: Connection, name: string): Promise<boolean> {
  const { rowCount } = await connection.query("SELECT FROM pg_namespace WHERE nspname = $1", [name]);
  if (rowCount === 0) await connection.query(`CREATE SCHEMA ${name}`);
  return rowCount === 0;
}

/** Saves in the journal that a migration was applied. */
async function saveMigration(connection: Connection, { hash, folderMillis }: MigrationMeta): Promise<void> {
  await connection.query(`INSERT INTO ${JOURNAL} (hash, created_at) VALUES ($1, $2)`, [hash, folderMillis]);
}

/** @throws ConfigurationError if anything but a view or a function is missing */
async function readMissingViews(connection: Connection, views: Views): Promise<readonly ViewFile[]> {
  const missing = await readMissingObjects(connection, views.files);
  if (missing.names.length === missing.views.length) return missing.views;
  throw missingError(missing);
}

/**
 * By default `search_path` begins with the schema of the role's name, so a role `simcat` would read tables instead of views. It gets
 * another one for this database, unless it or the database has one without `"$user"`, or the privilege is missing.
 */
async function setSearchPath(connection: Connection): Promise<void> {
  await connection.query(`DO $$ BEGIN
    IF to_regrole('simcat') IS NOT NULL AND NOT EXISTS (
      SELECT FROM pg_db_role_setting, unnest(setconfig) AS setting
      WHERE setrole IN (0, to_regrole('simcat')::oid)
        AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
        AND setting ~ '^search_path=' AND setting NOT LIKE '%$user%'
    ) THEN
      EXECUTE format('ALTER ROLE simcat IN DATABASE %I SET search_path = simcat_report, public', current_database());
    END IF;
  EXCEPTION WHEN insufficient_privilege THEN NULL;
  END $$`);
}

import type { MigrationMeta } from "drizzle-orm/migrator";
import { ConfigurationError } from "../errors.ts";
import { buildIndexes, createJournal, isConcurrent, recordMigration, runStatements } from "./apply-migration.ts";
import { type Connection, type ConnectOptions, connect, disconnect } from "./connect.ts";
import { asDatabaseError } from "./db-errors.ts";
import { formatMissing, hintForMissing, readMissingObjects } from "./missing-objects.ts";
import { recreateViews } from "./recreate-views.ts";
import { assertNotNewer, loadMigrations, readJournal, toSchemaState } from "./schema-state.ts";
import { withTransaction } from "./transaction.ts";

/** An arbitrary constant that never changes, because two migrating processes must ask for the same lock. */
const LOCK = 7_264_112_009;
/** Short, because a statement that waits for a table's lock blocks every later reader. */
const LOCK_TIMEOUT_MS = 2_500;
/** About five minutes, with the pauses between the attempts. */
const LOCK_ATTEMPTS = 80;
/** Settings of a role that would change the meaning of the migrations. */
const FIXED_SETTINGS = `SET LOCAL standard_conforming_strings = on; SET LOCAL search_path = pg_catalog;
  SET LOCAL default_table_access_method = heap`;

interface MigrateOptions extends Pick<ConnectOptions, "onWait"> {
  readonly folder?: string;
}

interface MigrateResult {
  /** How many migrations were applied. */
  readonly applied: number;
  /** Views and functions that were missing although their migration had been applied, such as `view simcat_report.x`. */
  readonly recreated: readonly string[];
}

/**
 * Brings the schema up to date under a lock: of several processes, one migrates, and the others find it done. All missing
 * migrations are one transaction, except indexes that are built concurrently on existing tables.
 * @throws ConfigurationError if the schema is newer than this program, or if a table, a column, a constraint or an index
 * of an applied migration is missing
 */
export async function migrate(
  url: string,
  signal: AbortSignal,
  { folder, ...options }: MigrateOptions = {},
): Promise<MigrateResult> {
  const pool = await connect(url, { max: 2, ...options }, signal);
  const migrations = loadMigrations(folder);
  const runLocked = <T>(work: (connection: Connection) => Promise<T>) =>
    withTransaction(
      pool,
      { operation: "migrating the schema", lockTimeoutMs: LOCK_TIMEOUT_MS, lockAttempts: LOCK_ATTEMPTS },
      async (connection) => {
        await connection.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
        await connection.query(FIXED_SETTINGS);
        return work(connection);
      },
      signal,
    );
  try {
    for (let total = 0; ; ) {
      const step = await runLocked((connection) => applyMissing(connection, migrations));
      total += step.applied;
      const { next } = step;
      if (next === null) return { applied: total, recreated: step.recreated };
      total += await runLocked(async (connection) => {
        if ((await readJournal(connection)).includes(next.folderMillis)) return 0;
        await buildIndexes(connection, pool, next);
        await recordMigration(connection, next);
        return 1;
      });
    }
  } catch (error) {
    if (error instanceof ConfigurationError || signal.aborted) throw error;
    throw asDatabaseError("migrating the schema", error);
  } finally {
    await disconnect(pool);
  }
}

interface Step extends MigrateResult {
  /** The next migration if it must be applied outside of a transaction; null if all are applied. */
  readonly next: MigrationMeta | null;
}

/** Applies the missing migrations up to the first that builds an index concurrently. If none is left, repairs the views. */
async function applyMissing(connection: Connection, migrations: readonly MigrationMeta[]): Promise<Step> {
  const journal = await readJournal(connection);
  assertNotNewer(toSchemaState(migrations, journal));
  const missing = migrations.filter(({ folderMillis }) => !journal.includes(folderMillis));
  if (missing.length > 0) await createJournal(connection);
  // A new database has no readers, so nothing has to be built concurrently; and nothing can be missing afterwards.
  const isNew = journal.length === 0;
  const stop = isNew ? -1 : missing.findIndex(isConcurrent);
  const batch = stop === -1 ? missing : missing.slice(0, stop);
  for (const migration of batch) {
    await runStatements(connection, migration);
    await recordMigration(connection, migration);
  }
  const next = missing[stop] ?? null;
  const recreated = next === null && !isNew ? await repairViews(connection, migrations) : [];
  return { applied: batch.length, recreated, next };
}

/** Creates missing views and functions again. @throws ConfigurationError if anything else is missing */
async function repairViews(connection: Connection, migrations: readonly MigrationMeta[]): Promise<readonly string[]> {
  const missing = await readMissingObjects(connection);
  if (missing.names.length === missing.views.length) {
    await recreateViews(connection, migrations, missing.views);
    return missing.views;
  }
  throw new ConfigurationError(
    `all migrations are applied, but the database lacks ${formatMissing(missing)}; ${hintForMissing(missing)}`,
  );
}

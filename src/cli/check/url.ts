import type { Config } from "../../config.ts";
import { createClock } from "../../db/clock.ts";
import { type Connection, connect, disconnect, type Pool } from "../../db/connect.ts";
import { databaseError } from "../../db/db-errors.ts";
import { lockError } from "../../db/lock-holders.ts";
import { readMissingObjects } from "../../db/missing-objects.ts";
import { readMigrationLacks, readRunLacks } from "../../db/privileges.ts";
import { readSchemaState } from "../../db/schema-state.ts";
import { readServer } from "../../db/server.ts";
import { withTransaction } from "../../db/transaction.ts";
import { ConfigurationError, SimcatError } from "../../errors.ts";
import type { CheckLine } from "../../report/check.ts";
import { maskDatabaseUrl } from "../../secrets.ts";
import type { DatabaseUrls } from "../with-database.ts";
import { ok, skipped } from "./lines.ts";
import { judgePrivileges, judgeSchema } from "./schema.ts";
import { judgeClock, judgeServer } from "./server.ts";

/** A check tells how things are now; a run waits for a database that does not answer. */
export const PATIENCE_MS = 0;

/** A run waits for half a minute for a lock that another session holds. */
const LOCK_TIMEOUT_MS = 2_000;
const READ_MS = 10_000;

export type Lines = AsyncGenerator<CheckLine, void>;

/** What DATABASE_URL leads to. */
export async function* checkUrl(config: Config, { url }: DatabaseUrls, signal: AbortSignal): Lines {
  const where = config.databaseUrl === null ? "the embedded database" : maskDatabaseUrl(url);
  let pool: Pool;
  try {
    pool = await connect(url, { max: 1, retryForMs: PATIENCE_MS }, signal);
  } catch (error) {
    // It answered, but with an encoding that will not do.
    if (error instanceof ConfigurationError) yield ok("database", `${where} answered`);
    throw error;
  }
  try {
    yield* checkPool(pool, where, config, signal);
  } catch (error) {
    throw error instanceof SimcatError ? error : databaseError("asking the database", error);
  } finally {
    await disconnect(pool);
  }
}

async function* checkPool(pool: Pool, where: string, config: Config, signal: AbortSignal): Lines {
  const read = <T>(work: (connection: Connection) => Promise<T>) => readBounded(pool, work, signal);
  const server = await read(readServer);
  yield judgeServer(server, where);
  yield ok("encoding", `${server.encoding}, which holds every name`);
  const lacks = await read(readRunLacks);
  if (lacks.some(({ hidesVersion }) => hidesVersion)) {
    yield skipped("schema", "the privileges must be given first");
    yield judgePrivileges(lacks);
  } else {
    const state = await read(readSchemaState);
    const missing = state.kind === "current" ? await read(readMissingObjects) : null;
    if (missing !== null && lacks.length === 0) {
      await read((connection) =>
        connection.query(missing.tables.map((table) => `SELECT FROM ${table} LIMIT 0`).join(";")),
      );
    }
    yield judgeSchema(state, config.autoMigrate, missing);
    const migratesHere = config.autoMigrate && config.databaseDirectUrl === config.databaseUrl;
    const more = migratesHere && state.kind === "behind" ? await read(readMigrationLacks) : [];
    yield judgePrivileges([...lacks, ...more]);
  }
  const clock = await createClock(pool, signal);
  yield judgeClock(Date.now(), clock.now());
}

/**
 * A read that neither a lock nor a slow server holds up for long.
 * @throws DatabaseError, which names the session that holds the lock
 */
export async function readBounded<T>(
  pool: Pool,
  work: (connection: Connection) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const operation = "asking the database";
  const options = { operation, retryForMs: PATIENCE_MS, lockTimeoutMs: LOCK_TIMEOUT_MS, lockAttempts: 1 };
  try {
    return await withTransaction(
      pool,
      options,
      async (connection) => {
        await connection.query(`SET LOCAL statement_timeout = ${READ_MS}`);
        return work(connection);
      },
      signal,
    );
  } catch (error) {
    throw await lockError(pool, operation, error, signal);
  }
}

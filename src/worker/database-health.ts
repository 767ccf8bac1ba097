import { isNull } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { readNow } from "../db/clock.ts";
import type { Connection, Pool } from "../db/connect.ts";
import { databaseError } from "../db/db-errors.ts";
import { type RunRow, readLastGoodRun } from "../db/read/recent-runs.ts";
import { rejects } from "../db/schema.ts";
import { readSchemaState, type SchemaState } from "../db/schema-state.ts";
import { begin } from "../db/transaction.ts";

/** The facts that readiness depends on, at one moment. Reading them touches only small tables, however large the copy is. */
export interface DatabaseHealth {
  /** A moment shortly before the read, as `performance.now()`. */
  readonly readAt: number;
  /** The same moment by the database's clock. */
  readonly now: Date;
  readonly schema: SchemaState;
  /** Also null if the schema is older than this program. */
  readonly lastGoodRun: RunRow | null;
}

/** Figures that only the metrics need. Reading them scans the tables of libraries and rejects. */
export interface CopyFigures {
  /** As `performance.now()`. */
  readonly readAt: number;
  readonly openRejects: number;
  /** Time since the least recently read live library was read; null if there is none. */
  readonly oldestReadMs: number | null;
}

const ignore = () => {};

/** @throws DatabaseError, also if the database does not answer in time */
export function readDatabaseHealth(pool: Pool, timeoutMs: number): Promise<DatabaseHealth> {
  return readWithTimeout(pool, timeoutMs, async (connection, readAt) => {
    const now = await readNow(connection);
    const schema = await readSchemaState(connection);
    return { readAt, now, schema, lastGoodRun: schema.kind === "behind" ? null : await readLastGoodRun(connection) };
  });
}

/** @throws DatabaseError, also if the database does not answer in time */
export function readCopyFigures(pool: Pool, timeoutMs: number): Promise<CopyFigures> {
  return readWithTimeout(pool, timeoutMs, async (connection, readAt) => ({
    readAt,
    openRejects: await drizzle(connection).$count(rejects, isNull(rejects.resolvedAt)),
    oldestReadMs: await readOldest(connection),
  }));
}

/**
 * Reads in a snapshot on one connection of the pool, and closes that connection after `timeoutMs`: probes arrive every few
 * seconds and must not use up the connections that a run needs.
 */
async function readWithTimeout<T>(
  pool: Pool,
  timeoutMs: number,
  read: (connection: Connection, readAt: number) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  try {
    const connection = await pool.connect();
    // The query in progress rejects if the connection breaks.
    connection.on("error", ignore);
    let timedOut = false;
    const giveUp = () => {
      timedOut = true;
      connection.release(true);
    };
    const timer = setTimeout(giveUp, startedAt + timeoutMs - performance.now());
    try {
      const readAt = performance.now();
      await connection.query(begin({ snapshot: true }));
      const value = await read(connection, readAt);
      await connection.query("COMMIT");
      if (!timedOut) connection.release();
      return value;
    } catch (error) {
      if (!timedOut) connection.release(true);
      throw timedOut ? new Error(`no answer within ${timeoutMs / 1000} s`) : error;
    } finally {
      clearTimeout(timer);
      connection.off("error", ignore);
    }
  } catch (error) {
    throw databaseError("reading the state of the copy", error);
  }
}

async function readOldest(connection: Connection): Promise<number | null> {
  const { rows } = await connection.query<{ ms: number | null }>(
    `SELECT (extract(epoch FROM clock_timestamp() - min(y.content_read_at)) * 1000)::float8 AS ms
     FROM simcat.library_sync y JOIN simcat.libraries l USING (owner, library_name) WHERE l.removed_at IS NULL`,
  );
  return rows[0]?.ms ?? null;
}

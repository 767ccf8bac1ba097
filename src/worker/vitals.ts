import { isNull } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { readNow } from "../db/clock.ts";
import type { Connection, Pool } from "../db/connect.ts";
import { databaseError } from "../db/db-errors.ts";
import { type RunRow, readLastGoodRun } from "../db/read/recent-runs.ts";
import { rejects } from "../db/schema.ts";
import { readSchemaState, type SchemaState } from "../db/schema-state.ts";
import { begin } from "../db/transaction.ts";

/** The facts that readiness is judged by, at one moment. Reading it touches only small tables, however large the copy is. */
export interface Vitals {
  /** A moment before the reading, of `performance.now()`, and the same by the database's clock. */
  readonly readAt: number;
  readonly now: Date;
  readonly schema: SchemaState;
  /** Null where the schema is older than this program, too. */
  readonly lastGoodRun: RunRow | null;
}

/** The facts that only metrics need: reading them scans the tables of libraries and rejects. */
export interface Figures {
  /** Of `performance.now()`. */
  readonly readAt: number;
  readonly openRejects: number;
  /** How long ago the live library that waits longest was read; null without one. */
  readonly oldestReadMs: number | null;
}

/** A connection that breaks is heard of by the query that is under way. */
const ignore = () => {};

/** @throws DatabaseError, also when the database does not answer in time */
export function readVitals(pool: Pool, patienceMs: number): Promise<Vitals> {
  return readInTime(pool, patienceMs, async (connection, readAt) => {
    const now = await readNow(connection);
    const schema = await readSchemaState(connection);
    return { readAt, now, schema, lastGoodRun: schema.kind === "behind" ? null : await readLastGoodRun(connection) };
  });
}

/** @throws DatabaseError, also when the database does not answer in time */
export function readFigures(pool: Pool, patienceMs: number): Promise<Figures> {
  return readInTime(pool, patienceMs, async (connection, readAt) => ({
    readAt,
    openRejects: await drizzle(connection).$count(rejects, isNull(rejects.resolvedAt)),
    oldestReadMs: await readOldest(connection),
  }));
}

/**
 * On one connection of the pool, which is given up when it does not answer in time: probes that come every few seconds
 * must not take the connections of a run.
 */
async function readInTime<T>(
  pool: Pool,
  patienceMs: number,
  read: (connection: Connection, readAt: number) => Promise<T>,
): Promise<T> {
  const beganAt = performance.now();
  try {
    const connection = await pool.connect();
    connection.on("error", ignore);
    let late = false;
    const giveUp = () => {
      late = true;
      connection.release(true);
    };
    const timer = setTimeout(giveUp, beganAt + patienceMs - performance.now());
    try {
      const readAt = performance.now();
      await connection.query(begin({ snapshot: true }));
      const value = await read(connection, readAt);
      await connection.query("COMMIT");
      if (!late) connection.release();
      return value;
    } catch (error) {
      if (!late) connection.release(true);
      throw late ? new Error(`no answer within ${patienceMs / 1000} s`) : error;
    } finally {
      clearTimeout(timer);
      connection.off("error", ignore);
    }
  } catch (error) {
    throw databaseError("asking the database how the copy is", error);
  }
}

async function readOldest(connection: Connection): Promise<number | null> {
  const { rows } = await connection.query<{ ms: number | null }>(
    `SELECT (extract(epoch FROM clock_timestamp() - min(y.content_read_at)) * 1000)::float8 AS ms
     FROM simcat.library_sync y JOIN simcat.libraries l USING (owner, library_name) WHERE l.removed_at IS NULL`,
  );
  return rows[0]?.ms ?? null;
}

import { isNull } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import type { Connection, Pool } from "../db/connect.ts";
import { databaseError } from "../db/failures.ts";
import { readSchemaState, type SchemaState } from "../db/migrate.ts";
import { type RunRow, readLastGoodRun } from "../db/read/recent-runs.ts";
import { rejects } from "../db/schema.ts";
import { readNow } from "../db/snapshot.ts";
import { begin } from "../db/transaction.ts";

/** What probes and metrics ask of the database, at one moment. */
export interface Vitals {
  /** The moment, of `performance.now()`, and by the database's clock. */
  readonly readAt: number;
  readonly now: Date;
  readonly schema: SchemaState;
  /** These are null where the schema is older than this program. */
  readonly lastGoodRun: RunRow | null;
  readonly openRejects: number | null;
  /** How long ago the live library that waits longest was read. */
  readonly oldestReadMs: number | null;
}

/** A connection that breaks is heard of by the query that is under way. */
const ignore = () => {};

/**
 * On one connection of the pool, which is given up when it does not answer in time: probes that come every few seconds
 * must not take the connections of a run.
 * @throws DatabaseError
 */
export async function readVitals(pool: Pool, patienceMs: number): Promise<Vitals> {
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
      const vitals = await readAll(connection);
      if (!late) connection.release();
      return vitals;
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

async function readAll(connection: Connection): Promise<Vitals> {
  await connection.query(begin({ snapshot: true }));
  const vitals = await readMoment(connection);
  await connection.query("COMMIT");
  return vitals;
}

async function readMoment(connection: Connection): Promise<Vitals> {
  const schema = await readSchemaState(connection);
  const now = await readNow(connection);
  const moment = { readAt: performance.now(), now, schema };
  if (schema.kind === "behind") return { ...moment, lastGoodRun: null, openRejects: null, oldestReadMs: null };
  return {
    ...moment,
    lastGoodRun: await readLastGoodRun(connection),
    openRejects: await drizzle(connection).$count(rejects, isNull(rejects.resolvedAt)),
    oldestReadMs: await readOldest(connection),
  };
}

async function readOldest(connection: Connection): Promise<number | null> {
  const { rows } = await connection.query<{ ms: number | null }>(
    `SELECT (extract(epoch FROM clock_timestamp() - min(y.content_read_at)) * 1000)::float8 AS ms
     FROM simcat.library_sync y JOIN simcat.libraries l USING (owner, library_name) WHERE l.removed_at IS NULL`,
  );
  return rows[0]?.ms ?? null;
}

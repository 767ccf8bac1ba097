import type { Connection, Pool } from "./connect.ts";
import { asDatabaseError } from "./db-errors.ts";
import { withTransaction } from "./transaction.ts";

/**
 * Several queries that see one moment and write nothing.
 * @throws DatabaseError when the database refuses or is gone
 */
export async function readSnapshot<T>(
  pool: Pool,
  operation: string,
  work: (connection: Connection) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await withTransaction(pool, { operation, snapshot: true }, work, signal);
  } catch (error) {
    throw signal.aborted ? error : asDatabaseError(operation, error);
  }
}

/** The database's clock. */
export async function readNow(connection: Connection): Promise<Date> {
  const { rows } = await connection.query<{ ms: number }>(
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms",
  );
  return new Date(rows[0]?.ms ?? Number.NaN);
}

import pg from "pg";
import type { Connection, Pool } from "../connect.ts";

/**
 * Passes each row of a query to `onRow` as it arrives, so that they are never all in memory. An error that `onRow` throws
 * is thrown after the query has ended, and no further row is passed. `onColumns` is called once, before the first row or,
 * if there is none, at the end.
 */
export function streamRows<Row extends pg.QueryResultRow>(
  connection: Connection,
  text: string | pg.QueryConfig,
  onRow: (row: Row) => void,
  onColumns: (columns: readonly pg.FieldDef[]) => void = () => {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: { readonly thrown: unknown } | null = null;
    let isFirst = true;
    const attempt = (work: () => void) => {
      if (failure) return;
      try {
        work();
      } catch (thrown) {
        failure = { thrown };
      }
    };
    const describe = (result: pg.ResultBuilder | undefined) => {
      if (isFirst) onColumns(result?.fields ?? []);
      isFirst = false;
    };
    const query = new pg.Query<Row>(text, (error, result) => {
      if (!error) attempt(() => describe(result));
      if (error) reject(error);
      else if (failure) reject(failure.thrown);
      else resolve();
    });
    query.on("row", (row, result) => {
      // The driver also collects all rows in its result.
      if (result) result.rows.length = 0;
      attempt(() => {
        describe(result);
        onRow(row);
      });
    });
    connection.query(query);
  });
}

/** Most statements end sooner by themselves than another connection is opened. */
const CANCEL_AFTER_MS = 200;

/**
 * Runs `work`, and cancels the statement of this connection soon after the signal is aborted.
 * @throws the signal's reason if it was aborted
 */
export async function cancelOnAbort<T>(
  pool: Pool,
  connection: Connection,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { rows } = await connection.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(() => void cancel(pool, rows[0]?.pid ?? 0), CANCEL_AFTER_MS);
  };
  signal.addEventListener("abort", onAbort);
  try {
    signal.throwIfAborted();
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** If it fails, the statement ends by itself, later. */
async function cancel(pool: Pool, pid: number): Promise<void> {
  try {
    const connection = await pool.connect();
    await connection.query("SELECT pg_cancel_backend($1)", [pid]).finally(() => connection.release());
  } catch {
    return;
  }
}

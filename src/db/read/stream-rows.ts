import pg from "pg";
import { type Connection, oneRow, type Pool } from "../connect.ts";

/**
 * Passes each row of a query to `onRow` as it arrives, with the columns of the result, so that the rows are never all in memory.
 * `onEnd` is called after the last row. An error that either throws is thrown after the query has ended, and no further row is passed.
 */
export function streamRows<Row extends pg.QueryResultRow>(
  connection: Connection,
  text: string | pg.QueryConfig,
  onRow: (row: Row, columns: readonly pg.FieldDef[]) => void,
  onEnd: (columns: readonly pg.FieldDef[]) => void = () => {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: { readonly thrown: unknown } | null = null;
    const attempt = (work: () => void) => {
      try {
        if (failure === null) work();
      } catch (thrown) {
        failure = { thrown };
      }
    };
    const query = new pg.Query<Row>(text, (error, result) => {
      if (error) return reject(error);
      attempt(() => onEnd(result.fields));
      if (failure === null) resolve();
      else reject(failure.thrown);
    });
    query.on("row", (row, result) => {
      // The driver also collects all rows in its result.
      if (result) result.rows.length = 0;
      attempt(() => onRow(row, result?.fields ?? []));
    });
    connection.query(query);
  });
}

/**
 * Runs `work`, and cancels the statement of this connection if the signal is aborted. If that fails, the statement ends by itself.
 * @throws the signal's reason if it was aborted
 */
export async function cancelOnAbort<T>(
  pool: Pool,
  connection: Connection,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { pid } = oneRow(await connection.query<{ pid: number }>("SELECT pg_backend_pid() AS pid"));
  const cancel = () => void pool.query("SELECT pg_cancel_backend($1)", [pid]).catch(() => {});
  signal.addEventListener("abort", cancel);
  try {
    signal.throwIfAborted();
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

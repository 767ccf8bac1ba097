import pg from "pg";
import { startTimer } from "../../async.ts";
import { type Connection, oneRow, type Pool, within } from "../connect.ts";

/** Within this time a pooler must find a session for the cancellation. In milliseconds. */
const CANCEL_MS = 2_000;

/**
 * Passes each row of a query to `onRow` as it arrives, with the columns of the result, so that the rows are never all in memory.
 * An error that it throws is thrown after the query has ended, and no further row is passed. Returns the columns.
 */
export function streamRows<Row extends pg.QueryResultRow>(
  connection: Connection,
  text: string | pg.QueryConfig,
  onRow: (row: Row, columns: readonly pg.FieldDef[]) => void,
): Promise<readonly pg.FieldDef[]> {
  return new Promise((resolve, reject) => {
    let failure: { readonly thrown: unknown } | null = null;
    const query = new pg.Query<Row>(text, (error, result) => {
      if (error) reject(error);
      else if (failure === null) resolve(result.fields);
      else reject(failure.thrown);
    });
    query.on("row", (row, result) => {
      // The driver also collects all rows in its result.
      if (result) result.rows.length = 0;
      try {
        if (failure === null) onRow(row, result?.fields ?? []);
      } catch (thrown) {
        failure = { thrown };
      }
    });
    connection.query(query);
  });
}

/**
 * Runs `work`, and cancels the statement of this connection if the signal is aborted. If there is no other connection for that, or
 * the server stays silent, closes this one; then the server ends the statement at its time limit. It waits for the cancellation, which
 * could otherwise meet the next transaction of a pooler's session.
 * @throws the signal's reason if it was aborted
 */
export async function cancelOnAbort<T>(
  pool: Pool,
  connection: Connection,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { pid } = oneRow(await connection.query<{ pid: number }>("SELECT pg_backend_pid() AS pid"));
  const close = () => connection.connection.stream.destroy();
  let cancelled: Promise<unknown> | null = null;
  let timer: NodeJS.Timeout | undefined;
  const cancel = () => {
    cancelled = pool.query(within(CANCEL_MS, "SELECT pg_cancel_backend($1)", [pid])).catch(close);
    timer = startTimer(close, CANCEL_MS);
  };
  signal.addEventListener("abort", cancel);
  try {
    signal.throwIfAborted();
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
    clearTimeout(timer);
    await cancelled;
  }
}

import type pg from "pg";
import type { Connection, Pool } from "../connect.ts";
import type { BoundStatement } from "../statement.ts";
import { streamRows } from "./stream-rows.ts";

/** The values of a row, as the server prints them. */
export type TextRow = readonly (string | null)[];

/** Between two fetches the caller can be stopped. */
const ROWS_PER_FETCH = 1_000;

const AS_TEXT: pg.CustomTypesConfig = { getTypeParser: () => (text: string) => text };

/**
 * Passes each row of a query to `onRow`, through a cursor of the open transaction, so that memory is bounded by the largest
 * row. Calls `onFetched` with the number of rows so far.
 */
export async function streamCursor(
  connection: Connection,
  { text, values }: BoundStatement,
  { onRow, onFetched }: { readonly onRow: (row: TextRow) => void; readonly onFetched: (rows: number) => void },
  signal: AbortSignal,
): Promise<number> {
  // All rows are read, so the plan with the lowest total cost is the best one. Aggregates are kept in memory.
  await connection.query("SET LOCAL cursor_tuple_fraction = 1; SET LOCAL work_mem TO '64MB'");
  await connection.query(`DECLARE rows NO SCROLL CURSOR FOR ${text}`, values);
  const fetch: pg.QueryArrayConfig = { text: `FETCH ${ROWS_PER_FETCH} FROM rows`, rowMode: "array", types: AS_TEXT };
  let rows = 0;
  for (let isLast = false; !isLast; ) {
    signal.throwIfAborted();
    const before = rows;
    await streamRows<string[]>(connection, fetch, (row) => {
      rows += 1;
      onRow(row);
    });
    onFetched(rows);
    isLast = rows - before < ROWS_PER_FETCH;
  }
  await connection.query("CLOSE rows");
  return rows;
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

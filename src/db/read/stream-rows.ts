import pg from "pg";
import type { Connection } from "../connect.ts";

/**
 * Passes each row of a query to `onRow` as it arrives, so that they are never all in memory. An error that `onRow` throws
 * is thrown after the query has ended, and no further row is passed.
 */
export function streamRows<Row extends pg.QueryResultRow>(
  connection: Connection,
  text: string | pg.QueryConfig,
  onRow: (row: Row) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: { readonly thrown: unknown } | null = null;
    const query = new pg.Query<Row>(text, (error) => {
      if (error) reject(error);
      else if (failure) reject(failure.thrown);
      else resolve();
    });
    query.on("row", (row, result) => {
      // The driver also collects all rows in its result.
      if (result) result.rows.length = 0;
      if (failure) return;
      try {
        onRow(row);
      } catch (thrown) {
        failure = { thrown };
      }
    });
    connection.query(query);
  });
}

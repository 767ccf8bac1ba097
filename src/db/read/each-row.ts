import pg from "pg";
import type { Connection } from "../connect.ts";

/**
 * Hands over the rows of a query while they come: the server computes the next ones meanwhile, and nobody holds them all.
 * What `take` throws is thrown when the query has ended.
 */
export function eachRow<Row extends pg.QueryResultRow>(
  connection: Connection,
  text: string,
  take: (row: Row) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: { readonly thrown: unknown } | null = null;
    const query = new pg.Query<Row>(text, (error) => {
      if (error) reject(error);
      else if (failure) reject(failure.thrown);
      else resolve();
    });
    query.on("row", (row, result) => {
      // The driver keeps every row for whoever wants them all.
      if (result) result.rows.length = 0;
      if (failure) return;
      try {
        take(row);
      } catch (thrown) {
        failure = { thrown };
      }
    });
    connection.query(query);
  });
}

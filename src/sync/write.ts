import type { Connection, Pool } from "../db/connect.ts";
import type { Lease } from "../db/lease.ts";
import { withTransaction } from "../db/transaction.ts";

/** One transaction of a run; `doing` says in an error message what it was for. */
export type Write = <T>(
  doing: string,
  work: (connection: Connection) => Promise<T>,
  reconcile?: (first: T, last: T) => T,
) => Promise<T>;

/** Transactions that are fenced by the run's token, and that end even when the reading was stopped. */
export function fencedWrites(pool: Pool, lease: Lease): Write {
  return (doing, work, reconcile) =>
    withTransaction(
      pool,
      { doing, ...(reconcile ? { reconcile } : {}) },
      async (connection) => {
        await lease.fence(connection);
        return work(connection);
      },
      lease.lost,
    );
}

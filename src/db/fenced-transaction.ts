import type { Connection, Pool } from "./connect.ts";
import type { Lease } from "./lease.ts";
import { type TransactionOptions, withTransaction } from "./transaction.ts";

/** One transaction under a lease. */
export type RunInTransaction = <T>(
  options: TransactionOptions<T>,
  work: (connection: Connection) => Promise<T>,
) => Promise<T>;

/** Transactions that are fenced by the lease's token, and that end even when the work was told to stop. */
export function createFencedTransaction(pool: Pool, lease: Lease): RunInTransaction {
  return (options, work) =>
    withTransaction(
      pool,
      options,
      async (connection) => {
        await lease.fence(connection);
        return work(connection);
      },
      lease.lost,
    );
}

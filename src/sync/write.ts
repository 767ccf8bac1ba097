import type { Connection, Pool } from "../db/connect.ts";
import type { Lease } from "../db/lease.ts";
import { type TransactionOptions, withTransaction } from "../db/transaction.ts";

/** One transaction of a run. */
export type Write = <T>(options: TransactionOptions<T>, work: (connection: Connection) => Promise<T>) => Promise<T>;

/** Transactions that are fenced by the run's token, and that end even when the reading was stopped. */
export function fencedWrites(pool: Pool, lease: Lease): Write {
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

import type { Connection, Pool } from "./connect.ts";
import type { Lease } from "./lease.ts";
import { type TransactionOptions, withTransaction } from "./transaction.ts";

/** Runs work in one transaction that the lease's token protects. */
export type RunInTransaction = <T>(
  options: TransactionOptions<T>,
  work: (connection: Connection) => Promise<T>,
) => Promise<T>;

/** Transactions that begin with the fence. Only a lost lease aborts them: a stop signal lets them finish. */
export function createFencedTransaction(pool: Pool, lease: Lease): RunInTransaction {
  return (options, work) => {
    const fenced = async (connection: Connection) => {
      await lease.fence(connection);
      return work(connection);
    };
    return withTransaction(pool, options, fenced, lease.lost);
  };
}

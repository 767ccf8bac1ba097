import { DatabaseError } from "../errors.ts";
import type { Connection, Pool } from "./connect.ts";
import { asDatabaseError, driverError, isContention } from "./db-errors.ts";
import { withTransaction } from "./transaction.ts";

/** Which locks on which tables block the work. */
const BLOCKING = {
  /** Those that block writers, and `AccessExclusiveLock` readers too. Both queue after a session that waits for one. */
  tables:
    "l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') AND n.nspname IN ('simcat', 'simcat_migrations')",
  /** Whoever locks or changes a row of the table holds one of these. */
  lease: "l.mode <> 'AccessShareLock' AND n.nspname = 'simcat' AND c.relname = 'leases'",
};

/** The session that holds, or else waits for, a blocking lock; of several the oldest. */
const selectHolder = (blocking: keyof typeof BLOCKING) => `
SELECT n.nspname || '.' || c.relname AS relation, l.pid, concat_ws(', ', 'role ' || a.usename, nullif(a.application_name, ''),
  'for ' || extract(epoch FROM clock_timestamp() - a.xact_start)::int || ' s') AS details
FROM pg_locks l
JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_stat_activity a ON a.pid = l.pid
WHERE ${BLOCKING[blocking]} AND l.pid <> pg_backend_pid() AND c.relkind IN ('r', 'p')
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
ORDER BY l.granted DESC, a.xact_start, relation LIMIT 1`;

/** The error of a transaction. If it waited for a lock in vain, names the session that holds the lock. */
export async function lockError(pool: Pool, operation: string, error: unknown, signal: AbortSignal): Promise<unknown> {
  const isLocked = isContention(driverError(error));
  const named = isLocked ? await readHolderError(pool, operation, "tables", error, signal) : null;
  return named ?? asDatabaseError(operation, error);
}

/** The error of a run that could not take the lease, because its row stayed locked. */
export async function lockedLeaseError(pool: Pool, operation: string, signal: AbortSignal): Promise<DatabaseError> {
  const named = await readHolderError(pool, operation, "lease", undefined, signal);
  return named ?? new DatabaseError("the lease is locked by another session");
}

/** Null if no session holds such a lock any more. */
async function readHolderError(
  pool: Pool,
  operation: string,
  blocking: keyof typeof BLOCKING,
  cause: unknown,
  signal: AbortSignal,
): Promise<DatabaseError | null> {
  const read = (connection: Connection) =>
    connection.query<{ relation: string; pid: number; details: string }>(selectHolder(blocking));
  const [holder] = (await withTransaction(pool, { operation, retryForMs: 0 }, read, signal)).rows;
  if (holder === undefined) return null;
  const hint = `wait until it ends, or end it: SELECT pg_terminate_backend(${holder.pid})`;
  const problem = `${holder.relation} is locked by session ${holder.pid} (${holder.details})`;
  return new DatabaseError(problem, { hint, cause });
}

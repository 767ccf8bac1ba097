import { DatabaseError } from "../errors.ts";
import { ANSWER_MS, type Pool, within } from "./connect.ts";
import { driverError, isLockTimeout } from "./db-errors.ts";

/** Which locks on which tables block the work. */
const BLOCKING = {
  /** Writers and readers also queue after a session that waits for such a lock. */
  writers:
    "l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock') AND n.nspname IN ('simcat', 'simcat_migrations')",
  readers: "l.mode = 'AccessExclusiveLock' AND n.nspname IN ('simcat', 'simcat_migrations')",
  /** A session that locks or changes a row of the table holds one of these. */
  lease: "l.mode <> 'AccessShareLock' AND n.nspname = 'simcat' AND c.relname = 'leases'",
};

export type Blocked = keyof typeof BLOCKING;

/**
 * The session that holds, or else waits for, a blocking lock; of several the oldest. A session that waits for a row locks its
 * tuple in such a mode, so only locks on whole tables count.
 */
const selectHolder = (blocking: Blocked) => `
SELECT n.nspname || '.' || c.relname AS relation, l.pid, concat_ws(', ', 'role ' || a.usename, nullif(a.application_name, ''),
  'for ' || extract(epoch FROM clock_timestamp() - a.xact_start)::int || ' s') AS details
FROM pg_locks l
JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'relation' AND ${BLOCKING[blocking]} AND l.pid <> pg_backend_pid() AND c.relkind IN ('r', 'p')
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
ORDER BY l.granted DESC, a.xact_start, relation LIMIT 1`;

/**
 * Returns the error of a transaction. If that waited for a lock in vain, and a session is found that blocks one of `blocked`, returns
 * an error that names the session instead.
 */
export async function nameLockHolder(pool: Pool, blocked: readonly Blocked[], error: unknown): Promise<unknown> {
  const cause = driverError(error);
  if (!isLockTimeout(cause)) return error;
  for (const one of blocked) {
    const named = await readHolderError(pool, one, cause);
    if (named !== null) return named;
  }
  return error;
}

/** The error of a run that could not take the lease, because its row stayed locked. */
export async function lockedLeaseError(pool: Pool): Promise<DatabaseError> {
  return (await readHolderError(pool, "lease")) ?? new DatabaseError("the lease is locked by another session");
}

/** Null if no session holds such a lock any more, or if the database does not say. */
async function readHolderError(pool: Pool, blocking: Blocked, cause?: unknown): Promise<DatabaseError | null> {
  const statement = within(ANSWER_MS, selectHolder(blocking));
  const found = await pool
    .query<{ relation: string; pid: number; details: string }>(statement)
    .catch(() => ({ rows: [] }));
  const [holder] = found.rows;
  if (holder === undefined) return null;
  const hint = `wait until it ends, or end it: SELECT pg_terminate_backend(${holder.pid})`;
  const problem = `${holder.relation} is locked by session ${holder.pid} (${holder.details})`;
  return new DatabaseError(problem, { hint, cause });
}

import { DatabaseError } from "../errors.ts";
import type { Connection, Pool } from "./connect.ts";
import { databaseError, driverError, isContention } from "./db-errors.ts";
import { SCHEMAS, type SchemaNames } from "./schema-names.ts";
import { withTransaction } from "./transaction.ts";

interface LockHolder {
  readonly relation: string;
  readonly pid: number;
  readonly role: string | null;
  readonly application: string | null;
  readonly seconds: number | null;
}

/**
 * A session that holds, or waits for, a lock that readers conflict with: readers queue after a waiting one too. A holder
 * first. $1: schemas.
 */
const SELECT_HOLDER = `
SELECT n.nspname || '.' || c.relname AS relation, l.pid, a.usename AS role, a.application_name AS application,
  extract(epoch FROM clock_timestamp() - a.xact_start)::int AS seconds
FROM pg_locks l
JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.mode = 'AccessExclusiveLock' AND l.pid <> pg_backend_pid()
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND n.nspname = ANY ($1::text[]) AND c.relkind IN ('r', 'p')
ORDER BY l.granted DESC, relation LIMIT 1`;

/** The error of a read. If the read waited for a lock in vain, names the session that holds it. */
export async function lockError(
  pool: Pool,
  operation: string,
  error: unknown,
  signal: AbortSignal,
  { tables, journal }: SchemaNames = SCHEMAS,
): Promise<DatabaseError> {
  if (!isContention(driverError(error))) return databaseError(operation, error);
  const read = (connection: Connection) => connection.query<LockHolder>(SELECT_HOLDER, [[tables, journal]]);
  const { rows } = await withTransaction(pool, { operation, retryForMs: 0 }, read, signal);
  const [holder] = rows;
  if (holder === undefined) return databaseError(operation, error);
  const { relation, pid, role, application, seconds } = holder;
  const details = [role && `role ${role}`, application, seconds === null ? null : `for ${seconds} s`].filter(Boolean);
  return new DatabaseError(`${relation} is locked by session ${pid} (${details.join(", ")})`, {
    hint: `wait until it ends, or end it: SELECT pg_terminate_backend(${pid})`,
    cause: error,
  });
}

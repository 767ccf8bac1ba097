import { DatabaseError } from "../errors.ts";
import type { Connection, Pool } from "./connect.ts";
import { databaseError, isContention } from "./failures.ts";
import { withTransaction } from "./transaction.ts";

interface LockHolder {
  readonly relation: string;
  readonly pid: number;
  readonly role: string | null;
  readonly application: string | null;
  readonly seconds: number | null;
}

/** Sessions that hold a lock which even readers wait for, and those that wait for one and hold up the readers after them. */
const HOLDERS = `
SELECT n.nspname || '.' || c.relname AS relation, l.pid, a.usename AS role, a.application_name AS application,
  extract(epoch FROM clock_timestamp() - a.xact_start)::int AS seconds
FROM pg_locks l
JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.mode = 'AccessExclusiveLock' AND l.pid <> pg_backend_pid()
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND n.nspname IN ('simcat', 'simcat_migrations') AND c.relkind IN ('r', 'p')
ORDER BY l.granted DESC, relation LIMIT 1`;

/** The error of a read that waited for a lock, with the session that holds it; any other as `databaseError` has it. */
export async function lockError(
  pool: Pool,
  doing: string,
  error: unknown,
  signal: AbortSignal,
): Promise<DatabaseError> {
  const cause = error instanceof DatabaseError ? error.cause : error;
  if (!isContention(cause)) return databaseError(doing, error);
  const read = (connection: Connection) => connection.query<LockHolder>(HOLDERS);
  const { rows } = await withTransaction(pool, { doing, patienceMs: 0 }, read, signal);
  const [holder] = rows;
  if (holder === undefined) return databaseError(doing, error);
  const { relation, pid, role, application, seconds } = holder;
  const known = [role && `role ${role}`, application, seconds === null ? null : `for ${seconds} s`].filter(Boolean);
  return new DatabaseError(`${relation} is locked by session ${pid} (${known.join(", ")})`, {
    hint: `wait until it ends, or end it: SELECT pg_terminate_backend(${pid})`,
    cause: error,
  });
}

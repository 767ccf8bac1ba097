import { unlessAborted } from "../async.ts";
import { DatabaseError, LostLeaseError } from "../errors.ts";
import { formatElapsed } from "../format.ts";
import { ANSWER_MS, type Connection, type Pool, type RetryOptions, retryTransient, within } from "./connect.ts";
import { asDatabaseError, databaseError, isConnectionLost } from "./db-errors.ts";
import { type Blocked, nameLockHolder } from "./lock-holders.ts";

/** Lifts the time limits that a role or a database may set. Postgres has `transaction_timeout` since version 17. */
const UNLIMITED = `SET LOCAL statement_timeout = 0;
    SELECT set_config('transaction_timeout', '0', true) WHERE current_setting('transaction_timeout', true) IS NOT NULL`;

/**
 * Compiling a statement costs more than it saves here. With `auto`, each statement is planned for its values. With
 * `force_custom_plan` each foreign-key check would be planned again too, which takes long.
 */
const PLANNED = "SET LOCAL jit = off; SET LOCAL plan_cache_mode = auto";

/** Rows of large tables are found by their keys, whatever the statistics and the role's settings are. */
const BY_KEY = "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = on; SET LOCAL enable_nestloop = on";

/** Values travel as text, so a role's settings could round numbers, read NULL in an array as a word, or unescape a literal. */
const EXACT =
  "SET LOCAL array_nulls = on; SET LOCAL extra_float_digits = 1; SET LOCAL standard_conforming_strings = on";

/** Times and names of types travel as text too, in a format that a database or a role may set. */
const READABLE =
  "SET LOCAL datestyle TO 'ISO, YMD'; SET LOCAL timezone TO 'UTC'; SET LOCAL quote_all_identifiers = off";

/** Takes the rights of the reader if there is one; first that of this role's prefix, such as north_reader for north_writer. */
export const TAKE_READER_RIGHTS = `
SELECT set_config('role', name, true) FROM (
  SELECT rolname AS name FROM pg_roles
  WHERE rolname IN (regexp_replace(current_user, '_(writer|migrator)$', '_reader'), 'simcat_reader') AND rolname LIKE '%\\_reader'
    AND pg_has_role(oid, CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END)
    AND has_schema_privilege(oid, 'simcat_report', 'USAGE')
  ORDER BY rolname = 'simcat_reader'
  LIMIT 1
) AS reader`;

/** Keeps the hash table and the order of a million libraries in memory. A role may have more. */
const WITH_MEMORY =
  "SELECT set_config('work_mem', greatest(pg_size_bytes(current_setting('work_mem')) / 1024, 65536)::text, true)";

const LOCK_TIMEOUT_MS = 5_000;
/** In milliseconds; below the time of a lease, so that a stopped process cannot hold its row locks past a takeover. */
const IDLE_TIMEOUT_MS = 15_000;
/** A COMMIT may wait for a slow disk or a standby. */
const COMMIT_MS = 60_000;

export interface TransactionOptions extends Pick<RetryOptions, "retryForMs" | "lockAttempts"> {
  /** Begins the error message: "storing 12 libraries". */
  readonly operation: string;
  /** Makes it READ ONLY, with one snapshot for all its queries. */
  readonly snapshot?: boolean;
  /** How long a statement waits for another session's lock, in milliseconds. */
  readonly lockTimeoutMs?: number;
  /** Makes all statements find their rows by keys, however large the tables are. */
  readonly byKey?: boolean;
  /** A lease that must still be held. Its row stays locked, so that no other run takes it before the COMMIT. */
  readonly fence?: { readonly name: string; readonly token: number };
  /** Does not announce that it waits, because no work of a run depends on it. */
  readonly isSilent?: boolean;
  /** The work itself changes the row of a lease. After a lost COMMIT its last result counts, and of other work the first. */
  readonly changesLease?: boolean;
}

const FENCE = "SELECT 1 FROM simcat.leases WHERE name = $1 AND token = $2 FOR KEY SHARE";

/**
 * Runs `work` in one transaction. Repeats the whole transaction as `retryTransient` says, so `work` must be safe to repeat.
 * @throws LostLeaseError if another run has taken the lease of `fence`
 * @throws DatabaseError if the database cannot be reached or stays contended: if a lock was not granted, it names the session
 * that holds it. Other errors of `work` pass unchanged
 */
export async function withTransaction<T>(
  pool: Pool,
  options: TransactionOptions,
  work: (connection: Connection) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { operation, fence, changesLease = false } = options;
  const usual: Blocked[] = options.snapshot ? ["readers"] : ["writers"];
  let blocked = usual;
  // A session of a pooler must not keep what a user's query has set.
  const end = options.snapshot ? "ROLLBACK" : "COMMIT";
  /** The result of the first attempt whose COMMIT was sent and not answered: it may have been committed. */
  let unanswered: { readonly value: T } | null = null;
  const attempt = async () => {
    let computed: { readonly value: T } | null = null;
    let closing: Error | boolean = false;
    const connection = await pool.connect().catch((error) => {
      throw isConnectionLost(error) ? error : databaseError(operation, error);
    });
    try {
      await connection.query(within(ANSWER_MS, begin(options)));
      blocked = [...usual, "lease"];
      if (fence !== undefined) {
        const { rowCount } = await connection.query(within(ANSWER_MS, FENCE, [fence.name, fence.token]));
        if (rowCount === 0) throw new LostLeaseError();
      }
      if (!changesLease) blocked = usual;
      computed = { value: await work(connection) };
      const { command } = await connection.query(within(COMMIT_MS, end));
      if (command !== end) throw new DatabaseError(`${operation} failed: ${end} was answered with ${command}`);
      return unanswered === null || changesLease ? computed.value : unanswered.value;
    } catch (error) {
      if (isConnectionLost(error)) {
        closing = true;
        // The rows are read already, so the end needs no answer.
        if (options.snapshot && computed !== null) return computed.value;
        unanswered ??= computed;
        throw error;
      }
      await connection.query(within(ANSWER_MS, "ROLLBACK")).catch((failed: Error) => {
        closing = failed;
      });
      throw error;
    } finally {
      // A connection that is or may be lost is closed.
      connection.release(closing);
    }
  };
  const slowAfterMs = options.isSilent ? undefined : pool.slowAfterMs;
  const onWait = async (error: unknown) => {
    if (error !== undefined) pool.announceOutage(await nameLockHolder(pool, blocked, error));
    else if (slowAfterMs !== undefined) pool.announceSlow(`${operation}, ${formatElapsed(slowAfterMs)} so far`);
  };
  try {
    const result = await retryTransient(attempt, signal, { ...options, onWait, slowAfterMs });
    if (!options.isSilent) pool.endOutage();
    return result;
  } catch (error) {
    throw asDatabaseError(operation, await nameLockHolder(pool, blocked, error));
  }
}

/**
 * Runs several queries on one snapshot; they cannot write, so an aborted signal ends them at once.
 * @throws DatabaseError if the database refuses or cannot be reached
 */
export async function readSnapshot<T>(
  pool: Pool,
  operation: string,
  work: (connection: Connection) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return unlessAborted(withTransaction(pool, { operation, snapshot: true }, work, signal), signal);
}

/** The statements that begin each transaction. All settings are local, because a pooler refuses others. */
function begin({ snapshot = false, lockTimeoutMs = LOCK_TIMEOUT_MS, byKey = false }: TransactionOptions): string {
  return `BEGIN ISOLATION LEVEL ${snapshot ? "REPEATABLE READ READ ONLY" : "READ COMMITTED"};
    ${UNLIMITED};
    SET LOCAL lock_timeout = ${lockTimeoutMs}; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS};
    ${EXACT}; ${READABLE}; ${PLANNED}${byKey ? `; ${BY_KEY}` : ""}${snapshot ? `; ${WITH_MEMORY}` : ""}`;
}

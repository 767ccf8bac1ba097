import { DatabaseError } from "../errors.ts";
import { ANSWER_MS, announceOutage, type Connection, type Pool, serverErrorOf, within } from "./connect.ts";
import { asDatabaseError, isConnectionLost } from "./db-errors.ts";
import { type Patience, retryTransient } from "./retry-transient.ts";

/** No limit of a role or a database ends what simcat began. Postgres knows `transaction_timeout` from 17 on. */
const UNLIMITED = `SET LOCAL statement_timeout = 0;
    SELECT set_config('transaction_timeout', '0', true) WHERE current_setting('transaction_timeout', true) IS NOT NULL`;

/** Compiling a statement takes longer than any of ours saves by it, and each is planned for the values that it is sent with. */
const PLANNED = "SET LOCAL jit = off; SET LOCAL plan_cache_mode = force_custom_plan";

/** A few rows of large tables, by their keys: statistics, or a role's settings, must never make it a scan of the table. */
export const BY_KEY = "SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = on; SET LOCAL enable_nestloop = on";

/** Values travel as text: a role's own settings must neither round a number nor turn a NULL in an array into a word. */
const EXACT = "SET LOCAL array_nulls = on; SET LOCAL extra_float_digits = 1";

/** Times are read from text, and a database or a role may have another style of it by default. */
const READABLE = "SET LOCAL datestyle TO 'ISO, YMD'; SET LOCAL timezone TO 'UTC'";

/** A COMMIT may wait for a slow disk or a standby; one that takes longer is on a connection that has fallen silent. */
const COMMIT_MS = 60_000;

export interface TransactionOptions<T> extends Pick<Patience, "retryForMs" | "lockAttempts"> {
  /** What the transaction is for, in the words of an error message: "storing 12 libraries". */
  readonly operation: string;
  /** READ ONLY, and one moment for all its queries. */
  readonly snapshot?: boolean;
  /** How long a statement waits for a lock that somebody else holds, in milliseconds. */
  readonly lockTimeoutMs?: number;
  /** All statements find their rows by keys, however large the tables are. */
  readonly byKey?: boolean;
  /**
   * When the answer to COMMIT was lost, the work is done once more: it finds itself done, or does it now. This says what to
   * answer then, from what the two attempts computed; without it, what the last one did.
   */
  readonly reconcile?: (first: T, last: T) => T;
}

/**
 * Runs `work` in one transaction, and the whole of it again after a deadlock, a serialization failure or a lost connection,
 * bounded. `work` must be safe to repeat.
 * @throws DatabaseError when the database cannot be reached or stays contended; what else `work` throws passes unchanged
 */
export async function withTransaction<T>(
  pool: Pool,
  options: TransactionOptions<T>,
  work: (connection: Connection) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  let unanswered: { readonly value: T } | null = null;
  const attempt = async () => {
    const result = await tryOnce(pool, options, work);
    if (result.kind === "done")
      return unanswered ? (options.reconcile?.(unanswered.value, result.value) ?? result.value) : result.value;
    if (result.kind === "unanswered") unanswered ??= { value: result.value };
    throw result.error;
  };
  try {
    return await retryTransient(attempt, signal, { ...options, onWait: (error) => announceOutage(pool, error) });
  } catch (error) {
    throw asDatabaseError(options.operation, error);
  }
}

type Attempt<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown }
  /** COMMIT was sent and its answer did not come: it may have been done. */
  | { readonly kind: "unanswered"; readonly error: unknown; readonly value: T };

/**
 * How each of our transactions begins. Local settings alone: a pooler forbids others. The idle limit is below the lease time, so that a stopped process cannot
 * hold its row locks past a takeover.
 */
export function begin({
  snapshot = false,
  lockTimeoutMs = 5_000,
  byKey = false,
}: Pick<TransactionOptions<unknown>, "snapshot" | "lockTimeoutMs" | "byKey">): string {
  return `BEGIN ISOLATION LEVEL ${snapshot ? "REPEATABLE READ READ ONLY" : "READ COMMITTED"};
    ${UNLIMITED};
    SET LOCAL lock_timeout = ${lockTimeoutMs}; SET LOCAL idle_in_transaction_session_timeout = 15000;
    ${EXACT}; ${READABLE}; ${PLANNED}${byKey ? `; ${BY_KEY}` : ""}`;
}

async function tryOnce<T>(
  pool: Pool,
  options: TransactionOptions<T>,
  work: (connection: Connection) => Promise<T>,
): Promise<Attempt<T>> {
  let connection: Connection | undefined;
  let computed: { readonly value: T } | undefined;
  let broken: Error | undefined;
  let lost = false;
  try {
    connection = await pool.connect();
    await connection.query(within(ANSWER_MS, begin(options)));
    const value = await work(connection);
    computed = { value };
    const { command } = await connection.query(within(COMMIT_MS, "COMMIT"));
    if (command !== "COMMIT")
      throw new DatabaseError(`${options.operation} failed: COMMIT was answered with ${command}`);
    return { kind: "done", value };
  } catch (thrown) {
    lost = isConnectionLost(thrown);
    const error = (lost && connection && serverErrorOf(connection)) || thrown;
    if (connection && !lost) {
      await connection.query(within(ANSWER_MS, "ROLLBACK")).catch((failed: Error) => {
        broken = failed;
      });
    }
    return computed && lost ? { kind: "unanswered", error, ...computed } : { kind: "failed", error };
  } finally {
    // What was lost, or may have been, is not used again.
    connection?.release(broken ?? lost);
  }
}

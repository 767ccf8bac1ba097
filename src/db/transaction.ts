import { DatabaseError } from "../errors.ts";
import { pause } from "../pause.ts";
import type { Connection, Pool } from "./connect.ts";
import { databaseError, isConnectionLost, isContention } from "./failures.ts";

/** How long a whole transaction is tried again for, in milliseconds: long enough for a restart of the server. */
const PATIENCE_MS = 30_000;
const CONTENTION_ATTEMPTS = 5;

export interface TransactionOptions {
  /** What the transaction is for, in the words of an error message: "storing 12 libraries". */
  readonly doing: string;
  /** READ ONLY and REPEATABLE READ: one moment for several queries. */
  readonly snapshot?: boolean;
  /** How long a statement waits for a lock that somebody else holds, in milliseconds. */
  readonly lockTimeoutMs?: number;
}

/**
 * Runs `work` in one transaction, and the whole of it again after a deadlock, a serialization failure or a lost connection,
 * bounded. When the answer to COMMIT is lost, the server is asked what became of the transaction, so that it is neither
 * done twice nor told wrongly.
 * @throws DatabaseError when it cannot be done; whatever `work` throws that is not the database's passes unchanged
 */
export async function withTransaction<T>(
  pool: Pool,
  options: TransactionOptions,
  work: (connection: Connection) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  let contended = 0;
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted();
    const attemptResult = await tryOnce(pool, options, work);
    if (attemptResult.kind === "done") return attemptResult.value;
    const { error, xid } = attemptResult;
    if (isContention(error)) {
      if (++contended >= CONTENTION_ATTEMPTS) throw databaseError(options.doing, error);
    } else if (!isConnectionLost(error) || performance.now() > giveUpAt) throw error;
    await pause(Math.random() * Math.min(2_000, 50 * 2 ** attempt), signal);
    if (xid !== null && (await wasCommitted(pool, xid, giveUpAt, signal))) return attemptResult.value as T;
  }
}

type Attempt<T> =
  | { readonly kind: "done"; readonly value: T }
  /** `xid` is set when COMMIT was sent and its answer did not come; then `value` is what was computed. */
  | { readonly kind: "failed"; readonly error: unknown; readonly xid: string | null; readonly value: T | undefined };

async function tryOnce<T>(
  pool: Pool,
  options: TransactionOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<Attempt<T>> {
  let connection: Connection | undefined;
  let value: T | undefined;
  let xid: string | null = null;
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  try {
    connection = await pool.connect();
    connection.on("error", onError);
    await connection.query(options.snapshot ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN");
    // Below the lease time, so that a stopped process cannot hold its row locks past a takeover. The three are local: a pooler forbids more.
    await connection.query(
      `SET LOCAL lock_timeout = ${options.lockTimeoutMs ?? 5_000}; SET LOCAL idle_in_transaction_session_timeout = 15000`,
    );
    value = await work(connection);
    if (!options.snapshot) {
      const { rows } = await connection.query<{ xid: string | null }>(
        "SELECT pg_current_xact_id_if_assigned()::text AS xid",
      );
      xid = rows[0]?.xid ?? null;
    }
    const { command } = await connection.query("COMMIT");
    if (command !== "COMMIT") throw new DatabaseError(`${options.doing} failed: COMMIT was answered with ${command}`);
    return { kind: "done", value };
  } catch (error) {
    if (connection && !isConnectionLost(error)) {
      xid = null;
      await connection.query("ROLLBACK").catch(onError);
    }
    return { kind: "failed", error, xid, value };
  } finally {
    connection?.off("error", onError);
    connection?.release(broken ?? false);
  }
}

async function wasCommitted(pool: Pool, xid: string, giveUpAt: number, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    try {
      const { rows } = await pool.query<{ status: string | null }>("SELECT pg_xact_status($1::xid8) AS status", [xid]);
      if (rows[0]?.status !== "in progress") return rows[0]?.status === "committed";
    } catch (error) {
      if (!isConnectionLost(error) || performance.now() > giveUpAt)
        throw databaseError("asking what became of a COMMIT", error);
    }
    await pause(250, signal);
  }
}

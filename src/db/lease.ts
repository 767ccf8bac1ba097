import { LostLeaseError } from "../errors.ts";
import type { DatabaseClock } from "./clock.ts";
import { ANSWER_MS, type Connection, type Pool, within } from "./connect.ts";
import { retryTransient } from "./retry-transient.ts";
import { LEASE_MS, NAME, RENEW_MS, takeLease } from "./take-lease.ts";
import { type TransactionOptions, withTransaction } from "./transaction.ts";

/** Whoever comes next waits for the rest of a lease that was not given back. */
const GIVE_BACK_MS = 2_000;
/** A renewal that is not answered by then is lost with its connection; the next one takes another. */
const RENEWAL_MS = 4_000;
const GIVE_BACK = "UPDATE simcat.leases SET expires_at = '-infinity' WHERE name = $1 AND token = $2";
/** Never brings back what was given back. */
const RENEW = `
UPDATE simcat.leases
SET expires_at = CASE WHEN expires_at > '-infinity' THEN clock_timestamp() + $3 * interval '1 ms' ELSE expires_at END
WHERE name = $1 AND token = $2`;

/** The right to write, held by one run at a time. */
export interface Lease {
  /** Moves with every takeover, never with a renewal. */
  readonly token: number;
  /** Aborted, with a LostLeaseError, when another run has taken the lease. */
  readonly lost: AbortSignal;
  /** The first statement of each of the run's transactions. @throws LostLeaseError when the token has moved */
  fence(connection: Connection): Promise<void>;
  /**
   * The run's last transaction, which gives the lease back as well. `isDone` is asked when the token has moved: whether an
   * earlier attempt did it all, whose COMMIT was not answered.
   * @throws LostLeaseError when the token has moved and nothing was done
   */
  end(options: LastOptions, work: (connection: Connection) => Promise<void>): Promise<void>;
}

interface LastOptions extends TransactionOptions<void> {
  readonly isDone: (connection: Connection) => Promise<boolean>;
}

export interface LeaseUse<S, T> {
  /** Written in the transaction that takes the lease, and again when its COMMIT was not answered. */
  readonly start: (connection: Connection) => Promise<S>;
  readonly work: (lease: Lease, started: S) => Promise<T>;
}

/**
 * Holds the lease while `work` runs, renews it, and gives it back. A live lease is watched: renewed means busy, expired means ours.
 * @throws BusyError when another run holds it
 */
export function withLease<T>(
  pool: Pool,
  clock: DatabaseClock,
  holder: string,
  work: (lease: Lease) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return startUnderLease(pool, clock, holder, { start: async () => null, work }, signal);
}

/** `withLease` for work that has something to write when it starts. */
export async function startUnderLease<S, T>(
  pool: Pool,
  clock: DatabaseClock,
  holder: string,
  { start, work }: LeaseUse<S, T>,
  signal: AbortSignal,
): Promise<T> {
  const { token, started } = await takeLease(pool, holder, start, signal);
  const lost = new AbortController();
  const renewing = keepRenewed(pool, clock, token, lost);
  let isGivenBack = false;
  const end: Lease["end"] = async ({ isDone, ...options }, write) => {
    const last = async (connection: Connection) => {
      const { rowCount } = await connection.query(GIVE_BACK, [NAME, token]);
      if (rowCount === 0 && !(await isDone(connection))) throw lostLease();
      if (rowCount !== 0) await write(connection);
    };
    await withTransaction(pool, options, last, lost.signal);
    isGivenBack = true;
  };
  try {
    const lease = { token, lost: lost.signal, fence: (connection: Connection) => fence(connection, token), end };
    return await work(lease, started);
  } finally {
    clearInterval(renewing);
    if (!isGivenBack) await giveBack(pool, token);
  }
}

function keepRenewed(pool: Pool, clock: DatabaseClock, token: number, lost: AbortController): NodeJS.Timeout {
  // One that still waits for a connection does not keep the next one from being sent.
  const renew = async () => {
    if (lost.signal.aborted) return;
    try {
      const { rowCount } = await pool.query(within(RENEWAL_MS, RENEW, [NAME, token, LEASE_MS]));
      if (rowCount === 0) lost.abort(lostLease());
      await clock.sample(AbortSignal.timeout(RENEW_MS));
    } catch {
      // A database that does not answer now fails the run's own transactions, with words; the next renewal may succeed.
    }
  };
  return setInterval(() => void renew(), RENEW_MS);
}

async function fence(connection: Connection, token: number): Promise<void> {
  const { rowCount } = await connection.query(
    within(ANSWER_MS, "SELECT 1 FROM simcat.leases WHERE name = $1 AND token = $2 FOR KEY SHARE", [NAME, token]),
  );
  if (rowCount === 0) throw lostLease();
}

function lostLease(): LostLeaseError {
  return new LostLeaseError(
    "another run took over the lease, because this one had not renewed it in time; this one wrote nothing more. Run: simcat status",
  );
}

async function giveBack(pool: Pool, token: number): Promise<void> {
  try {
    await retryTransient(
      () => pool.query(within(GIVE_BACK_MS, GIVE_BACK, [NAME, token])),
      AbortSignal.timeout(GIVE_BACK_MS),
    );
  } catch {
    // It expires by itself.
  }
}

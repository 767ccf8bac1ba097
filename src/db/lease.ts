import { LostLeaseError } from "../errors.ts";
import type { DatabaseClock } from "./clock.ts";
import { ANSWER_MS, type Connection, type Pool, within } from "./connect.ts";
import { persist } from "./patience.ts";
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
  /** Stops renewing, and gives the lease back unless `end` has. Never rejects. */
  release(): Promise<void>;
}

interface LastOptions extends TransactionOptions<void> {
  readonly isDone: (connection: Connection) => Promise<boolean>;
}

/** Holds the lease while `work` runs. @throws BusyError when another run holds it */
export async function withLease<T>(
  pool: Pool,
  clock: DatabaseClock,
  holder: string,
  work: (lease: Lease) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { lease } = await acquireLease(pool, clock, holder, async () => null, signal);
  try {
    return await work(lease);
  } finally {
    await lease.release();
  }
}

/**
 * Takes the lease and renews it until it is released or ended. Another holder's lease is watched: if it is renewed, this
 * throws; if it expires, this takes it over. `start` writes in the transaction that takes the lease, and again if the
 * answer to its COMMIT was lost.
 * @throws BusyError when another run holds it
 */
export async function acquireLease<S>(
  pool: Pool,
  clock: DatabaseClock,
  holder: string,
  start: (connection: Connection) => Promise<S>,
  signal: AbortSignal,
): Promise<{ readonly lease: Lease; readonly started: S }> {
  const { token, started } = await takeLease(pool, holder, start, signal);
  const lost = new AbortController();
  const renewing = keepRenewed(pool, clock, token, lost);
  let isReleased = false;
  const end: Lease["end"] = async ({ isDone, ...options }, write) => {
    const last = async (connection: Connection) => {
      const { rowCount } = await connection.query(GIVE_BACK, [NAME, token]);
      if (rowCount === 0 && !(await isDone(connection))) throw lostLease();
      if (rowCount !== 0) await write(connection);
    };
    await withTransaction(pool, options, last, lost.signal);
    isReleased = true;
  };
  const lease: Lease = {
    token,
    lost: lost.signal,
    fence: (connection) => fence(connection, token),
    end,
    async release() {
      clearInterval(renewing);
      if (!isReleased) await giveBack(pool, token);
    },
  };
  return { lease, started };
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
    await persist(() => pool.query(within(GIVE_BACK_MS, GIVE_BACK, [NAME, token])), AbortSignal.timeout(GIVE_BACK_MS));
  } catch {
    // It expires by itself.
  }
}

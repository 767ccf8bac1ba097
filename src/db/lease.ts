import { setMaxListeners } from "node:events";
import { LostLeaseError } from "../errors.ts";
import type { DatabaseClock } from "./clock.ts";
import { ANSWER_MS, type Connection, type Pool, within } from "./connect.ts";
import { retryTransient } from "./retry-transient.ts";
import { LEASE_MS, type LeaseRequest, RENEW_MS, takeLease } from "./take-lease.ts";
import { type TransactionOptions, withTransaction } from "./transaction.ts";

/** The next run waits until a lease that was not released expires. */
const RELEASE_MS = 2_000;
/** An unanswered renewal loses its connection after this time; the next renewal opens another one. */
const RENEWAL_MS = 4_000;
const RELEASE = "UPDATE simcat.leases SET expires_at = '-infinity' WHERE name = $1 AND token = $2";
/** A released lease stays released. */
const RENEW = `
UPDATE simcat.leases
SET expires_at = CASE WHEN expires_at > '-infinity' THEN clock_timestamp() + $3 * interval '1 ms' ELSE expires_at END
WHERE name = $1 AND token = $2`;
const FENCE = "SELECT 1 FROM simcat.leases WHERE name = $1 AND token = $2 FOR KEY SHARE";

/** Runs `work` in one transaction of the lease. */
export type InTransaction = <T>(
  options: TransactionOptions<T>,
  work: (connection: Connection) => Promise<T>,
) => Promise<T>;

/** The right to write. One run at a time holds it. */
export interface Lease {
  readonly name: string;
  /** Changes with every takeover, never with a renewal. */
  readonly token: number;
  /** Aborted, with a LostLeaseError, when another run has taken the lease. */
  readonly lost: AbortSignal;
  /**
   * Runs `work` in one transaction that begins with the fence. Only a lost lease aborts it: a stop signal lets it finish.
   * @throws LostLeaseError if the token has changed
   */
  readonly write: InTransaction;
  /**
   * The run's last transaction, which also releases the lease. If the token has changed, `isDone` must find out whether
   * an earlier attempt, whose COMMIT was not answered, was committed.
   * @throws LostLeaseError if the token has changed and nothing was committed
   */
  end(options: LastOptions, work: (connection: Connection) => Promise<void>): Promise<void>;
  /** Stops the renewals, and releases the lease unless `end` did. Never rejects. */
  release(): Promise<void>;
}

interface LastOptions extends TransactionOptions<void> {
  readonly isDone: (connection: Connection) => Promise<boolean>;
}

/** Identifies a taken lease in the statements. */
interface HeldLease {
  readonly name: string;
  readonly token: number;
}

/** Holds the lease while `work` runs. @throws BusyError if another run holds it and renews it */
export async function withLease<T>(
  pool: Pool,
  clock: DatabaseClock,
  request: LeaseRequest,
  work: (lease: Lease) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { lease } = await acquireLease(pool, clock, request, async () => null, signal);
  try {
    return await work(lease);
  } finally {
    await lease.release();
  }
}

/**
 * Takes the lease, and renews it until it is released. If another run holds it, watches whether that run renews it, and
 * takes it over if not. `start` runs in the transaction that takes the lease; again if its COMMIT was not answered.
 * @throws BusyError if another run holds it and renews it
 */
export async function acquireLease<S>(
  pool: Pool,
  clock: DatabaseClock,
  request: LeaseRequest,
  start: (connection: Connection) => Promise<S>,
  signal: AbortSignal,
): Promise<{ readonly lease: Lease; readonly started: S }> {
  const { token, started } = await takeLease(pool, request, start, signal);
  const held: HeldLease = { name: request.name, token };
  const lost = new AbortController();
  // Every transaction that waits for the database listens to it.
  setMaxListeners(0, lost.signal);
  const renewing = keepRenewed(pool, clock, held, lost);
  let isReleased = false;
  const end: Lease["end"] = async ({ isDone, ...options }, write) => {
    const last = async (connection: Connection) => {
      const { rowCount } = await connection.query(RELEASE, [held.name, token]);
      if (rowCount === 0 && !(await isDone(connection))) throw lostLease();
      if (rowCount !== 0) await write(connection);
    };
    await withTransaction(pool, options, last, lost.signal);
    isReleased = true;
  };
  const lease: Lease = {
    ...held,
    lost: lost.signal,
    write: (options, work) => {
      const fenced = async (connection: Connection) => {
        await fence(connection, held);
        return work(connection);
      };
      return withTransaction(pool, options, fenced, lost.signal);
    },
    end,
    async release() {
      clearInterval(renewing);
      if (!isReleased) await release(pool, held);
    },
  };
  return { lease, started };
}

function keepRenewed(
  pool: Pool,
  clock: DatabaseClock,
  { name, token }: HeldLease,
  lost: AbortController,
): NodeJS.Timeout {
  // A renewal that still waits for a connection does not delay the next one.
  const renew = async () => {
    if (lost.signal.aborted) return;
    try {
      const { rowCount } = await pool.query(within(RENEWAL_MS, RENEW, [name, token, LEASE_MS]));
      if (rowCount === 0) lost.abort(lostLease());
      await clock.sample(AbortSignal.timeout(RENEW_MS));
    } catch {
      // If the database stays away, the run's own transactions report it; otherwise the next renewal succeeds.
    }
  };
  return setInterval(() => void renew(), RENEW_MS);
}

async function fence(connection: Connection, { name, token }: HeldLease): Promise<void> {
  const { rowCount } = await connection.query(within(ANSWER_MS, FENCE, [name, token]));
  if (rowCount === 0) throw lostLease();
}

function lostLease(): LostLeaseError {
  return new LostLeaseError(
    "another run took over the lease, because this one had not renewed it in time; this one wrote nothing more. Run: simcat status",
  );
}

async function release(pool: Pool, { name, token }: HeldLease): Promise<void> {
  const attempt = () => pool.query(within(RELEASE_MS, RELEASE, [name, token]));
  try {
    await retryTransient(attempt, AbortSignal.timeout(RELEASE_MS));
  } catch {
    // It will expire.
  }
}

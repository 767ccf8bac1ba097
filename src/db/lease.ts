import { setMaxListeners } from "node:events";
import { LostLeaseError } from "../errors.ts";
import type { DatabaseClock } from "./clock.ts";
import { type Connection, type Pool, retryTransient, within } from "./connect.ts";
import { isFinished } from "./runs.ts";
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

/** The right to write, which one run holds, or `prune`. Each slice has its own. */
export type Lease = Awaited<ReturnType<typeof acquireLease>>["lease"];

/**
 * Takes the lease, and renews it until it is released. If another run holds it, watches whether that run renews it, and takes it
 * over if not. `start` runs in the transaction that takes the lease. If its COMMIT is not answered, both run again, with the `earlier` result.
 * @throws BusyError if another run holds it and renews it
 */
export async function acquireLease<S>(
  pool: Pool,
  clock: DatabaseClock,
  request: LeaseRequest,
  start: (connection: Connection, earlier: S | null) => Promise<S>,
  signal: AbortSignal,
) {
  const { token, started } = await takeLease(pool, request, start, signal);
  const { name } = request;
  const lost = new AbortController();
  // Every transaction that waits for the database listens to it.
  setMaxListeners(0, lost.signal);
  // A renewal that still waits for a connection does not delay the next one.
  const renew = async () => {
    try {
      const { rowCount } = await pool.query(within(RENEWAL_MS, RENEW, [name, token, LEASE_MS]));
      if (rowCount === 0) lost.abort(new LostLeaseError());
      await clock.sample(AbortSignal.timeout(RENEW_MS));
    } catch {
      // If the database stays away, the run's own transactions report it; otherwise the next renewal succeeds.
    }
  };
  const renewing = setInterval(() => void renew(), RENEW_MS);
  let isReleased = false;
  const lease = {
    pool,
    name,
    /** Changes with every takeover, never with a renewal. */
    token,
    /** Aborted, with a LostLeaseError, when another run has taken the lease. */
    lost: lost.signal,
    /**
     * The last transaction of a run, which also releases the lease. If the token has changed, the run's row says whether an earlier
     * attempt, whose COMMIT was not answered, was committed.
     * @throws LostLeaseError if the token has changed and nothing was committed
     */
    async end(runId: number, options: TransactionOptions, write: (connection: Connection) => Promise<void>) {
      const last = async (connection: Connection) => {
        const { rowCount } = await connection.query(RELEASE, [name, token]);
        if (rowCount === 0 && !(await isFinished(connection, runId))) throw new LostLeaseError();
        if (rowCount !== 0) await write(connection);
      };
      // Not `lost`: after a COMMIT whose answer was lost, another run may take the lease before the repetition finds it done.
      await withTransaction(pool, { ...options, changesLease: true }, last, new AbortController().signal);
      isReleased = true;
    },
    /** Stops the renewals, and releases the lease unless `end` did. Never rejects. */
    async release(): Promise<void> {
      clearInterval(renewing);
      if (isReleased) return;
      const attempt = () => pool.query(within(RELEASE_MS, RELEASE, [name, token]));
      // If it fails, the lease expires.
      await retryTransient(attempt, AbortSignal.timeout(RELEASE_MS)).catch(() => {});
    },
  };
  return { lease, started };
}

/** A lease as a transaction needs it. */
export type HeldLease = Pick<Lease, "pool" | "name" | "token" | "lost">;

/** `withTransaction` with the lease as its fence. Only a LostLeaseError aborts it: a stop signal lets it finish. */
export const withLease = <T>(
  { pool, name, token, lost }: HeldLease,
  options: TransactionOptions,
  work: (connection: Connection) => Promise<T>,
): Promise<T> => withTransaction(pool, { ...options, fence: { name, token } }, work, lost);

import { BusyError, LostLeaseError } from "../errors.ts";
import { pause } from "../pause.ts";
import type { DatabaseClock } from "./clock.ts";
import type { Connection, Pool } from "./connect.ts";
import { persist } from "./patience.ts";
import { readSnapshot } from "./snapshot.ts";
import { withTransaction } from "./transaction.ts";

const LEASE_MS = 20_000;
const RENEW_MS = 5_000;
const WATCH_MS = 500;
/** Whoever comes next waits for the rest of a lease that was not given back. */
const GIVE_BACK_MS = 2_000;
/** Whose lease is not renewed for so long is dead, whatever the clock says. */
const SILENT_MS = 3 * RENEW_MS;
const NAME = "sync";

/** The right to write, held by one run at a time. */
export interface Lease {
  /** Moves with every takeover, never with a renewal. */
  readonly token: number;
  /** Aborted, with a LostLeaseError, when another run has taken the lease. */
  readonly lost: AbortSignal;
  /** The first statement of each of the run's transactions. @throws LostLeaseError when the token has moved */
  fence(connection: Connection): Promise<void>;
}

/**
 * Holds the lease while `work` runs, renews it, and gives it back. A live lease is watched: renewed means busy, expired means ours.
 * @throws BusyError when another run holds it
 */
export async function withLease<T>(
  pool: Pool,
  clock: DatabaseClock,
  holder: string,
  work: (lease: Lease) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const token = await takeLease(pool, holder, signal);
  const lost = new AbortController();
  const renewing = keepRenewed(pool, clock, token, lost);
  try {
    return await work({ token, lost: lost.signal, fence: (connection) => fence(connection, token) });
  } finally {
    clearInterval(renewing);
    await giveBack(pool, token);
  }
}

async function takeLease(pool: Pool, holder: string, signal: AbortSignal): Promise<number> {
  const seen = new Map<number, { readonly expires: string; readonly since: number }>();
  let dead: LiveLease | null = null;
  for (;;) {
    const token = await withTransaction(
      pool,
      { doing: "taking the lease" },
      (connection) => tryTake(connection, holder, dead),
      signal,
    );
    if (token !== null) return token;
    const live = await readSnapshot(pool, "watching the lease", readLive, signal);
    if (live) {
      const first = seen.get(live.token) ?? { expires: live.expires, since: performance.now() };
      if (first.expires !== live.expires) {
        throw new BusyError(
          `another run is at work (${live.holder}) and renews its lease; nothing was done here. Let it finish, see: simcat status`,
        );
      }
      seen.set(live.token, first);
      if (live.isAhead && performance.now() - first.since > SILENT_MS) dead = live;
    }
    await pause(WATCH_MS, signal);
  }
}

interface LiveLease {
  readonly token: number;
  readonly holder: string;
  readonly expires: string;
  /** It ends later than any lease taken or renewed now: the database's clock was set back, and whoever lives renews it. */
  readonly isAhead: boolean;
}

async function readLive(connection: Connection): Promise<LiveLease | undefined> {
  const { rows } = await connection.query<LiveLease>(
    `SELECT token, holder, expires_at::text AS expires, expires_at > clock_timestamp() + $2 * interval '1 ms' AS "isAhead"
     FROM simcat.leases WHERE name = $1`,
    [NAME, LEASE_MS],
  );
  return rows[0];
}

/**
 * Takes a lease that is absent, expired, or the `dead` one; whatever run it belonged to is dead, so its row says so in the
 * same transaction.
 */
async function tryTake(connection: Connection, holder: string, dead: LiveLease | null): Promise<number | null> {
  const { rows } = await connection.query<{ token: number }>(
    `INSERT INTO simcat.leases AS held (name, holder, token, expires_at)
     VALUES ($1, $2, 1, clock_timestamp() + $3 * interval '1 ms')
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, token = held.token + 1, expires_at = excluded.expires_at
       WHERE held.expires_at < clock_timestamp() OR (held.token = $4 AND held.expires_at = $5::timestamptz)
     RETURNING token`,
    [NAME, holder, LEASE_MS, dead?.token, dead?.expires],
  );
  const token = rows[0]?.token ?? null;
  if (token !== null) {
    await connection.query(
      `UPDATE simcat.sync_runs SET status = 'abandoned', finished_at = clock_timestamp(),
         error = 'the process ended without a word (killed, or out of memory); what it had stored stays'
       WHERE status = 'running'`,
    );
  }
  return token;
}

function keepRenewed(pool: Pool, clock: DatabaseClock, token: number, lost: AbortController): NodeJS.Timeout {
  let busy = false;
  const renew = async () => {
    if (busy || lost.signal.aborted) return;
    busy = true;
    try {
      const { rowCount } = await pool.query(
        "UPDATE simcat.leases SET expires_at = clock_timestamp() + $3 * interval '1 ms' WHERE name = $1 AND token = $2",
        [NAME, token, LEASE_MS],
      );
      if (rowCount === 0) lost.abort(lostLease());
      await clock.sample(AbortSignal.timeout(RENEW_MS));
    } catch {
      // A database that does not answer now fails the run's own transactions, with words; the next renewal may succeed.
    } finally {
      busy = false;
    }
  };
  return setInterval(() => void renew(), RENEW_MS);
}

async function fence(connection: Connection, token: number): Promise<void> {
  const { rowCount } = await connection.query(
    "SELECT 1 FROM simcat.leases WHERE name = $1 AND token = $2 FOR KEY SHARE",
    [NAME, token],
  );
  if (rowCount === 0) throw lostLease();
}

function lostLease(): LostLeaseError {
  return new LostLeaseError(
    "another run took over the lease, because this one had not renewed it in time; this one wrote nothing more. Run: simcat status",
  );
}

async function giveBack(pool: Pool, token: number): Promise<void> {
  const text = "UPDATE simcat.leases SET expires_at = '-infinity' WHERE name = $1 AND token = $2";
  try {
    await persist(() => pool.query(text, [NAME, token]), AbortSignal.timeout(GIVE_BACK_MS));
  } catch {
    // It expires by itself.
  }
}

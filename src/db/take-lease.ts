import { sleep } from "../async.ts";
import { BusyError } from "../errors.ts";
import { announce, type Connection, type Pool } from "./connect.ts";
import { ANNOUNCE_AFTER_MS } from "./patience.ts";
import { readSnapshot } from "./snapshot.ts";
import { withTransaction } from "./transaction.ts";

export const NAME = "sync";
export const LEASE_MS = 20_000;
export const RENEW_MS = 5_000;
const WATCH_MS = 500;
/** Whose lease is not renewed for so long is dead, whatever the clock says. */
const SILENT_MS = 3 * RENEW_MS;

/** What identifies a lease at one moment: a renewal moves when it expires. */
type Taken = Pick<LiveLease, "token" | "expires">;

/**
 * Takes the lease, and does `start` in the same transaction; both again when its COMMIT was not answered.
 * @throws BusyError when another run holds it and lives
 */
export async function takeLease<S>(
  pool: Pool,
  holder: string,
  start: (connection: Connection) => Promise<S>,
  signal: AbortSignal,
): Promise<{ readonly token: number; readonly started: S }> {
  const seen = new Map<number, { readonly expires: string; readonly since: number }>();
  const beganAt = performance.now();
  let isAnnounced = false;
  let free: Taken | null = null;
  for (;;) {
    const mine = await withTransaction(
      pool,
      { doing: "taking the lease" },
      async (connection) => {
        const taken = await tryTake(connection, holder, free);
        if (taken === null) return null;
        // If the COMMIT of this attempt is not answered, the next one may take over what it took.
        free = taken;
        return { token: taken.token, started: await start(connection) };
      },
      signal,
    );
    if (mine !== null) return mine;
    const live = await readSnapshot(pool, "watching the lease", readLive, signal);
    if (live) {
      const first = seen.get(live.token) ?? { expires: live.expires, since: performance.now() };
      if (first.expires !== live.expires) {
        throw new BusyError(
          `another run is at work (${live.holder}) and renews its lease; nothing was done here. Let it finish, see: simcat status`,
        );
      }
      seen.set(live.token, first);
      if (live.isAhead && performance.now() - first.since > SILENT_MS) free = live;
      if (!isAnnounced && performance.now() - beganAt > ANNOUNCE_AFTER_MS) {
        isAnnounced = true;
        announce(pool, { code: "waiting_for_lease", message: waitMessage(live) });
      }
    }
    await sleep(WATCH_MS, signal);
  }
}

function waitMessage({ holder, isOver }: LiveLease): string {
  return isOver
    ? `waiting for the last transaction of another run (${holder}): its lease has expired, and it still holds a lock`
    : `waiting for the lease of another run (${holder}): if it is not renewed within ${LEASE_MS / 1000} s, this run takes over`;
}

interface LiveLease {
  readonly token: number;
  readonly holder: string;
  readonly expires: string;
  /** It ends later than any lease taken or renewed now: the database's clock was set back, and whoever lives renews it. */
  readonly isAhead: boolean;
  /** It has expired, and whoever held it holds a lock on its row. */
  readonly isOver: boolean;
}

async function readLive(connection: Connection): Promise<LiveLease | undefined> {
  const { rows } = await connection.query<LiveLease>(
    `SELECT token, holder, expires_at::text AS expires, expires_at > clock_timestamp() + $2 * interval '1 ms' AS "isAhead", expires_at < clock_timestamp() AS "isOver"
     FROM simcat.leases WHERE name = $1`,
    [NAME, LEASE_MS],
  );
  return rows[0];
}

/**
 * Takes a lease that is absent, expired, or the `free` one; whatever run it belonged to is dead, so its row says so in the
 * same transaction. Waits for no lock on the lease: a transaction that holds one belongs to a run that may still renew it.
 */
async function tryTake(connection: Connection, holder: string, free: Taken | null): Promise<Taken | null> {
  const { rows } = await connection.query<Taken>(
    `WITH lease AS (SELECT * FROM simcat.leases WHERE name = $1),
     free AS (
       SELECT FROM simcat.leases
       WHERE name = $1 AND (expires_at < clock_timestamp() OR (token = $4 AND expires_at = $5::timestamptz))
       FOR UPDATE SKIP LOCKED
     )
     INSERT INTO simcat.leases AS held (name, holder, token, expires_at)
     SELECT $1, $2, 1, clock_timestamp() + $3 * interval '1 ms'
     WHERE NOT EXISTS (SELECT FROM lease) OR EXISTS (SELECT FROM free)
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, token = held.token + 1, expires_at = excluded.expires_at
       WHERE held.expires_at < clock_timestamp() OR (held.token = $4 AND held.expires_at = $5::timestamptz)
     RETURNING token, expires_at::text AS expires`,
    [NAME, holder, LEASE_MS, free?.token, free?.expires],
  );
  const taken = rows[0] ?? null;
  if (taken !== null) {
    await connection.query(
      `UPDATE simcat.sync_runs SET status = 'abandoned', finished_at = clock_timestamp(),
         error = 'the process ended without a word (killed, or out of memory); what it had stored stays'
       WHERE status = 'running'`,
    );
  }
  return taken;
}

import { eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { sleep } from "../async.ts";
import { BusyError } from "../errors.ts";
import type { Connection, Pool } from "./connect.ts";
import { lockError, lockedLeaseError } from "./lock-holders.ts";
import { ANNOUNCE_AFTER_MS } from "./retry-transient.ts";
import { abandonRuns } from "./runs.ts";
import { leases } from "./schema.ts";
import { readSnapshot, withTransaction } from "./transaction.ts";

export const LEASE_MS = 20_000;
export const RENEW_MS = 5_000;
const WATCH_EVERY_MS = 500;
/** A lease lasts at most 20 s without a renewal, so only a lock on its row can make a run wait this long. */
const MAX_WAIT_MS = 60_000;
const TAKING = "taking the lease";
/** A holder that has not renewed for this long is considered dead, whatever the clock says. */
const DEAD_AFTER_MS = 3 * RENEW_MS;

export interface LeaseRequest {
  /** Runs with the same name exclude each other. */
  readonly name: string;
  /** Host and process of the holder, and its command unless it is a run. Operators read it in messages. */
  readonly holder: string;
}

/** Identifies one period of a lease: a renewal changes `expires`, a takeover also `token`. */
interface LeasePeriod {
  readonly token: number;
  readonly expires: string;
}

/**
 * Takes the lease and runs `start` in the same transaction; repeats both if its COMMIT was not answered.
 * @throws BusyError if another run holds it and renews it, DatabaseError if another session locks it
 */
export async function takeLease<S>(
  pool: Pool,
  request: LeaseRequest,
  start: (connection: Connection) => Promise<S>,
  signal: AbortSignal,
): Promise<{ readonly token: number; readonly started: S }> {
  const beganAt = performance.now();
  const watch = createLeaseWatch(pool);
  let dead: LeasePeriod | null = null;
  for (;;) {
    const taken = await withTransaction(
      pool,
      { operation: TAKING },
      async (connection) => {
        const mine = await tryTake(connection, request, dead);
        if (mine === null) return null;
        // If the COMMIT of this attempt is not answered, the next attempt may take over this lease.
        dead = mine;
        return { token: mine.token, started: await start(connection) };
      },
      signal,
    ).catch(async (error) => {
      throw await lockError(pool, TAKING, error, signal);
    });
    if (taken !== null) return taken;
    if (performance.now() - beganAt > MAX_WAIT_MS) throw await lockedLeaseError(pool, TAKING, signal);
    const other = await readSnapshot(
      pool,
      "watching the lease",
      (connection) => readLease(connection, request.name),
      signal,
    );
    if (other !== undefined && watch(other) === "dead") dead = other;
    await sleep(WATCH_EVERY_MS, signal);
  }
}

interface OtherLease extends LeasePeriod {
  readonly holder: string;
  /** It expires later than a lease renewed now: the database's clock was set back, so only the watch can judge it. */
  readonly isAhead: boolean;
  /** It has expired, but could not be taken: another session locks its row, perhaps the last transaction of its holder. */
  readonly isExpired: boolean;
}

/**
 * Judges another run's lease, and announces a long wait. The lease is dead if its row did not change for long enough.
 * @throws BusyError if the other run renewed it
 */
function createLeaseWatch(pool: Pool): (lease: OtherLease) => "waiting" | "dead" {
  const seen = new Map<number, { readonly expires: string; readonly since: number }>();
  const beganAt = performance.now();
  let isAnnounced = false;
  return (lease) => {
    const first = seen.get(lease.token) ?? { expires: lease.expires, since: performance.now() };
    if (first.expires !== lease.expires) {
      throw new BusyError(
        `another run is at work (${lease.holder}) and renews its lease; nothing was done here. Let it finish, see: simcat status`,
      );
    }
    seen.set(lease.token, first);
    if (!isAnnounced && performance.now() - beganAt > ANNOUNCE_AFTER_MS) {
      isAnnounced = true;
      pool.announce({ code: "waiting_for_lease", message: formatWait(lease) });
    }
    return lease.isAhead && performance.now() - first.since > DEAD_AFTER_MS ? "dead" : "waiting";
  };
}

function formatWait({ holder, isExpired }: OtherLease): string {
  return isExpired
    ? `waiting for a lock on the lease: another session holds it, and if it still does after ${MAX_WAIT_MS / 1000} s, this run ends`
    : `waiting for the lease of another run (${holder}): if it is not renewed within ${LEASE_MS / 1000} s, this run takes over`;
}

async function readLease(connection: Connection, name: string): Promise<OtherLease | undefined> {
  const { token, holder, expiresAt } = leases;
  const [lease] = await drizzle(connection)
    .select({
      token,
      holder,
      expires: sql<string>`${expiresAt}::text`,
      isAhead: sql<boolean>`${expiresAt} > clock_timestamp() + ${LEASE_MS} * interval '1 ms'`,
      isExpired: sql<boolean>`${expiresAt} < clock_timestamp()`,
    })
    .from(leases)
    .where(eq(leases.name, name));
  return lease;
}

/** Takes a lease that is absent, expired, or the `dead` one. SKIP LOCKED, because a locking transaction may still renew it. */
const TAKE = `
WITH lease AS (SELECT * FROM simcat.leases WHERE name = $1),
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
RETURNING token, expires_at::text AS expires`;

/** Takes the lease if no run can hold it any more, and marks the dead holder's run as abandoned. */
async function tryTake(
  connection: Connection,
  { name, holder }: LeaseRequest,
  dead: LeasePeriod | null,
): Promise<LeasePeriod | null> {
  const { rows } = await connection.query<LeasePeriod>(TAKE, [name, holder, LEASE_MS, dead?.token, dead?.expires]);
  const taken = rows[0] ?? null;
  if (taken !== null) await abandonRuns(connection);
  return taken;
}

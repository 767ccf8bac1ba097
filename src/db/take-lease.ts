import { sleep } from "../async.ts";
import { BusyError } from "../errors.ts";
import { ANNOUNCE_AFTER_MS, type Connection, type Pool } from "./connect.ts";
import { excludesLeaseSql, SYNC_LEASE } from "./lease-names.ts";
import { lockedLeaseError } from "./lock-holders.ts";
import { abandonRuns } from "./runs.ts";
import { readSnapshot, withTransaction } from "./transaction.ts";

export const LEASE_MS = 20_000;
export const RENEW_MS = 5_000;
const WATCH_EVERY_MS = 500;
/** A lease lasts at most 20 s without a renewal, so only a lock on its row, or many short runs, can make a run wait this long. */
const MAX_WAIT_MS = 60_000;
/** A holder that has not renewed for this long is considered dead, whatever the clock says. */
const DEAD_AFTER_MS = 3 * RENEW_MS;

export interface LeaseRequest {
  /** `excludesLeaseSql` says which names exclude each other. */
  readonly name: string;
  /** Host and process of the holder, and its command unless it is a run. Operators read it in messages. */
  readonly holder: string;
}

/** Identifies one period of a lease: a renewal changes `expires`, a takeover also `token`. */
interface LeasePeriod {
  readonly name: string;
  readonly token: number;
  readonly expires: string;
}

/**
 * Takes the lease and runs `start` in the same transaction; repeats both if its COMMIT was not answered.
 * @throws BusyError if another run holds a lease that excludes it and renews it, or if other runs hold one in turn;
 *   DatabaseError if another session locks one
 */
export async function takeLease<S>(
  pool: Pool,
  request: LeaseRequest,
  start: (connection: Connection) => Promise<S>,
  signal: AbortSignal,
): Promise<{ readonly token: number; readonly started: S }> {
  const beganAt = performance.now();
  const watch = createLeaseWatch(pool);
  const dead: LeasePeriod[] = [];
  for (;;) {
    const taken = await withTransaction(
      pool,
      { operation: "taking the lease" },
      async (connection) => {
        const mine = await tryTake(connection, request, dead);
        if (mine === null) return null;
        // If the COMMIT of this attempt is not answered, the next attempt may take over this lease.
        dead.push(mine);
        return { token: mine.token, started: await start(connection) };
      },
      signal,
    );
    if (taken !== null) return taken;
    const read = (connection: Connection) => connection.query<OtherLease>(SELECT_RIVALS, [request.name, LEASE_MS]);
    const { rows } = await readSnapshot(pool, "watching the lease", read, signal);
    for (const rival of rows) if (watch(rival) === "dead") dead.push(rival);
    if (performance.now() - beganAt > MAX_WAIT_MS) {
      const [longest] = rows;
      throw longest?.isExpired === false ? busyError(longest) : await lockedLeaseError(pool);
    }
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
  const seen = new Map<string, { readonly expires: string; readonly since: number }>();
  const beganAt = performance.now();
  let isAnnounced = false;
  return (lease) => {
    const period = `${lease.name}#${lease.token}`;
    const first = seen.get(period) ?? { expires: lease.expires, since: performance.now() };
    if (first.expires !== lease.expires && !lease.isExpired) throw busyError(lease);
    seen.set(period, first);
    if (!isAnnounced && performance.now() - beganAt > ANNOUNCE_AFTER_MS) {
      isAnnounced = true;
      pool.onWait({ code: "waiting_for_lease", message: formatWait(lease) });
    }
    return lease.isAhead && performance.now() - first.since > DEAD_AFTER_MS ? "dead" : "waiting";
  };
}

const busyError = (lease: OtherLease) =>
  new BusyError(
    `another run is at work (${formatHolder(lease)}); nothing was done here. Let it finish, see: simcat status`,
  );

const formatHolder = ({ name, holder }: OtherLease) =>
  name === SYNC_LEASE ? holder : `${holder}, slice ${name.slice(SYNC_LEASE.length + 1)}`;

function formatWait(lease: OtherLease): string {
  return lease.isExpired
    ? `waiting for a lock on the lease: another session holds it, and if it still does after ${MAX_WAIT_MS / 1000} s, this run ends`
    : `waiting for the lease of another run (${formatHolder(lease)}): if it is not renewed within ${LEASE_MS / 1000} s, this run takes over`;
}

/** The leases that exclude `$1`, without those that are fenced out. */
const RIVALS = `${excludesLeaseSql("name", "$1")} AND (name = $1 OR holder <> '')`;

/** The one that lasts longest is first. */
const SELECT_RIVALS = `
SELECT name, token, holder, expires_at::text AS expires,
  expires_at > clock_timestamp() + $2 * interval '1 ms' AS "isAhead", expires_at < clock_timestamp() AS "isExpired"
FROM simcat.leases WHERE ${RIVALS} ORDER BY expires_at DESC`;

/** Two runs whose leases exclude each other must not take them at the same time: their rows may not exist yet. */
const TAKE_LOCK = 7_264_112_010;
const LOCK_TAKING = `SELECT pg_advisory_xact_lock(${TAKE_LOCK})`;

/**
 * Takes a lease if each one that excludes it has expired or is one of the `dead`, and fences those out. SKIP LOCKED, because a
 * locking transaction may be the last one of its holder, or renew it.
 */
const TAKE = `
WITH rivals AS (SELECT FROM simcat.leases WHERE ${RIVALS}),
free AS (
  SELECT name FROM simcat.leases
  WHERE ${RIVALS} AND (expires_at < clock_timestamp()
    OR (name, token, expires_at) IN (SELECT * FROM unnest($4::text[], $5::int8[], $6::timestamptz[])))
  FOR UPDATE SKIP LOCKED
),
verdict AS (SELECT (SELECT count(*) FROM free) = (SELECT count(*) FROM rivals) AS is_free),
fenced_out AS (
  UPDATE simcat.leases SET token = token + 1, expires_at = '-infinity', holder = ''
  WHERE name <> $1 AND name IN (SELECT name FROM free) AND (SELECT is_free FROM verdict)
)
INSERT INTO simcat.leases AS held (name, holder, token, expires_at)
SELECT $1, $2, 1, clock_timestamp() + $3 * interval '1 ms' FROM verdict WHERE is_free
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, token = held.token + 1, expires_at = excluded.expires_at
RETURNING name, token, expires_at::text AS expires`;

/** Takes the lease if no run can hold one that excludes it, and marks the dead holders' runs as abandoned. */
async function tryTake(
  connection: Connection,
  { name, holder }: LeaseRequest,
  dead: readonly LeasePeriod[],
): Promise<LeasePeriod | null> {
  await connection.query(LOCK_TAKING);
  const ended = [dead.map((one) => one.name), dead.map(({ token }) => token), dead.map(({ expires }) => expires)];
  const { rows } = await connection.query<LeasePeriod>(TAKE, [name, holder, LEASE_MS, ...ended]);
  const taken = rows[0] ?? null;
  if (taken !== null) await abandonRuns(connection, name);
  return taken;
}

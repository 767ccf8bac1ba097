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
/** A lease that was dated by a clock that was ahead lasts this long from now. A live holder renews it in time. */
const SHORTENED_MS = 3 * RENEW_MS;

type LeasePeriod = Pick<OtherLease, "token" | "expires">;

export interface LeaseRequest {
  /** `excludesLeaseSql` says which names exclude each other. */
  readonly name: string;
  /** Host and process of the holder, and its command unless it is a run. Operators read it in messages. */
  readonly holder: string;
}

interface OtherLease {
  readonly name: string;
  /** Both identify one period of a lease: a renewal changes `expires`, a takeover also `token`. */
  readonly token: number;
  readonly expires: string;
  readonly holder: string;
  /** It has expired, but could not be taken: another session locks its row, perhaps the last transaction of its holder. */
  readonly isExpired: boolean;
}

/**
 * Takes the lease and runs `start` in the same transaction; repeats both if its COMMIT was not answered. While another run holds a
 * lease that excludes it, watches whether that run renews it.
 * @throws BusyError if the other run renews it, or if other runs hold one in turn; DatabaseError if another session locks one
 */
export async function takeLease<S>(
  pool: Pool,
  { name, holder }: LeaseRequest,
  start: (connection: Connection, earlier: S | null) => Promise<S>,
  signal: AbortSignal,
): Promise<{ readonly token: number; readonly started: S }> {
  const beganAt = performance.now();
  /** The lease that the last attempt took, if its COMMIT was not answered. */
  let unanswered: (LeasePeriod & { readonly started: S }) | null = null;
  /** Takes the lease and marks the runs of dead holders as abandoned. Null if another run may hold a lease that excludes it. */
  const tryTake = async (connection: Connection) => {
    await connection.query(LOCK_TAKING);
    const own = [unanswered?.token, unanswered?.expires];
    const { rows } = await connection.query<LeasePeriod>(TAKE, [name, holder, LEASE_MS, ...own]);
    const [taken] = rows;
    if (taken === undefined) {
      await connection.query(SHORTEN, [name, LEASE_MS, SHORTENED_MS]);
      return null;
    }
    await abandonRuns(connection, name);
    unanswered = { ...taken, started: await start(connection, unanswered?.started ?? null) };
    return unanswered;
  };
  const readRivals = (connection: Connection) => connection.query<OtherLease>(SELECT_RIVALS, [name]);
  /** The end of each rival's period when it was last seen. Another end means that it was renewed. */
  const expiries = new Map<string, string>();
  let isAnnounced = false;
  for (;;) {
    const taken = await withTransaction(pool, { operation: "taking the lease", changesLease: true }, tryTake, signal);
    if (taken !== null) return taken;
    const { rows: rivals } = await readSnapshot(pool, "watching the lease", readRivals, signal);
    for (const rival of rivals) {
      const period = `${rival.name}#${rival.token}`;
      if ((expiries.get(period) ?? rival.expires) !== rival.expires && !rival.isExpired) throw busyError(rival);
      expiries.set(period, rival.expires);
    }
    const [longest] = rivals;
    const waitedMs = performance.now() - beganAt;
    if (longest !== undefined && !isAnnounced && waitedMs > ANNOUNCE_AFTER_MS) {
      isAnnounced = true;
      pool.onWait({ code: "waiting_for_lease", message: formatWait(longest) });
    }
    if (waitedMs > MAX_WAIT_MS) throw longest?.isExpired === false ? busyError(longest) : await lockedLeaseError(pool);
    await sleep(WATCH_EVERY_MS, signal);
  }
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
SELECT name, token, holder, expires_at::text AS expires, expires_at < clock_timestamp() AS "isExpired"
FROM simcat.leases WHERE ${RIVALS} ORDER BY expires_at DESC`;

/** Two runs whose leases exclude each other must not take them at the same time: their rows may not exist yet. */
const TAKE_LOCK = 7_264_112_010;
const LOCK_TAKING = `SELECT pg_advisory_xact_lock(${TAKE_LOCK})`;

/** No renewal ends later than now + LEASE_MS. A later end was dated by a clock that was ahead; such a lease gets SHORTENED_MS from now. */
const SHORTEN = `
UPDATE simcat.leases SET expires_at = clock_timestamp() + $3 * interval '1 ms' WHERE name IN (
  SELECT name FROM simcat.leases WHERE ${RIVALS} AND expires_at > clock_timestamp() + $2 * interval '1 ms'
  FOR NO KEY UPDATE SKIP LOCKED)`;

/**
 * Takes the lease if every lease that excludes it has expired or is the `unanswered` one, and fences those out. A row that is locked
 * counts as live (SKIP LOCKED): the transaction that locks it may be a renewal, or the last one of its holder.
 */
const TAKE = `
WITH rivals AS (SELECT FROM simcat.leases WHERE ${RIVALS}),
free AS (
  SELECT name FROM simcat.leases
  WHERE ${RIVALS} AND (expires_at < clock_timestamp() OR (name, token, expires_at) = ($1, $4::int8, $5::timestamptz))
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
RETURNING token, expires_at::text AS expires`;

import { withTimeout } from "../async.ts";
import { readNow } from "../db/clock.ts";
import { type Connection, oneRow, type Pool } from "../db/connect.ts";
import { databaseError } from "../db/db-errors.ts";
import { type CopyCounts, readCopyCounts } from "../db/read/read-status.ts";
import { type RunRow, readLastGoodRun, readRecentRuns } from "../db/read/recent-runs.ts";
import { readSchemaState, type Schema, type SchemaState } from "../db/schema-state.ts";
import { begin } from "../db/transaction.ts";
import { hasErrorCode, toError } from "../errors.ts";

/** When something was read: by `performance.now()` and by the database's clock. */
interface ReadMoment {
  readonly readAt: number;
  readonly now: Date;
}

/** The facts that a probe waits for. Reading them touches only small tables, however large the copy is. */
export interface Basics extends ReadMoment {
  readonly schema: SchemaState;
  /** Null also if the schema is older than this program; `runs` is empty then. */
  readonly lastGoodRun: RunRow | null;
  /** The last 30, newest first. */
  readonly runs: readonly RunRow[];
}

/** The figures of the copy. Reading them scans the tables of libraries and rejects, which takes seconds for a million rows. */
export interface CopyFigures extends ReadMoment, CopyCounts {
  readonly database: string;
  /** From the views of simcat_report; null if the role may not read them, or their tables are locked. */
  readonly reported: {
    /** Null before every library has been stored once. */
    readonly completeAsOf: Date | null;
    /** The service as the last run that saw everything knew it: its start, or the time of a cached listing. */
    readonly seenAsOf: Date | null;
    /** Libraries whose content is known to be older than the last whole run. */
    readonly behind: number;
  } | null;
}

/** The copy as it was last read. Null before the first successful read. */
export interface CopyState {
  readonly basics: Basics | null;
  readonly figures: CopyFigures | null;
  /** Why the basics could not be read now; null if they could. */
  readonly error: Error | null;
}

export type CopyReads = ReturnType<typeof createCopyReads>;

const SHOWN_RUNS = 30;
const BASICS_WAIT_MS = 3_000;
const FIGURES_WAIT_MS = 1_000;
const FIGURES_TIMEOUT_MS = 60_000;

export function createCopyReads(pool: () => Pool | null, schema: Schema) {
  const basics = createCache(() => readWithin(pool(), BASICS_WAIT_MS, readBasics(schema)), BASICS_WAIT_MS);
  const figures = createCache(() => readWithin(pool(), FIGURES_TIMEOUT_MS, readFigures), FIGURES_WAIT_MS);
  return {
    /** Waits up to three seconds for the basics and one more for the figures. */
    async read(): Promise<CopyState> {
      const { value, error } = await basics.get();
      // An unreachable database is not asked for more, because a client is waiting.
      const { value: counted } = value === null || error !== null ? figures.last() : await figures.get();
      return { basics: value, figures: counted, error };
    },
    /** Discards both at the end of a run, and reads the basics while the database is known to be reachable. */
    async refresh(): Promise<void> {
      basics.expire();
      figures.expire();
      await basics.get();
    },
  };
}

const readBasics =
  (own: Schema) =>
  async (connection: Connection): Promise<Omit<Basics, keyof ReadMoment>> => {
    const schema = await readSchemaState(connection, own);
    if (schema.kind === "behind") return { schema, lastGoodRun: null, runs: [] };
    const runs = await readRecentRuns(connection, SHOWN_RUNS, "tables");
    return { schema, lastGoodRun: await readLastGoodRun(connection, "tables"), runs };
  };

async function readFigures(connection: Connection): Promise<Omit<CopyFigures, keyof ReadMoment>> {
  const counts = await readCopyCounts(connection, "tables");
  const { name } = oneRow(await connection.query<{ name: string }>("SELECT current_database() AS name"));
  // Last, because a role without rights on the views aborts the transaction here.
  return { ...counts, database: name, reported: await readReported(connection) };
}

async function readReported(connection: Connection): Promise<CopyFigures["reported"]> {
  try {
    // The view of freshness names the table of scenarios, so a lock on that table must not hold up the other figures.
    await connection.query("SET LOCAL lock_timeout = '250ms'");
    return oneRow(
      await connection.query<{ completeAsOf: Date | null; seenAsOf: Date | null; behind: number }>(
        `SELECT c.complete_as_of AS "completeAsOf", least(r.started_at, r.listing_as_of) AS "seenAsOf", c.libraries_behind AS behind
         FROM simcat_report.data_complete_as_of c LEFT JOIN simcat.sync_runs r ON r.id = c.last_whole_run_id`,
      ),
    );
  } catch (error) {
    if (hasErrorCode(error, INSUFFICIENT_PRIVILEGE, LOCK_NOT_AVAILABLE)) return null;
    throw error;
  }
}

const INSUFFICIENT_PRIVILEGE = "42501";
const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Reads in a snapshot on one connection of the pool, and closes that connection after `timeoutMs`: probes arrive every few
 * seconds and must not use up the connections that a run needs.
 * @throws DatabaseError
 */
async function readWithin<T>(
  pool: Pool | null,
  timeoutMs: number,
  read: (connection: Connection) => Promise<T>,
): Promise<(T & ReadMoment) | null> {
  if (pool === null) return null;
  try {
    const connection = await pool.connect();
    const readAll = async () => {
      const readAt = performance.now();
      await connection.query(begin({ snapshot: true }));
      const now = await readNow(connection);
      const value = { ...(await read(connection)), readAt, now };
      await connection.query("COMMIT");
      return value;
    };
    let isUsable = false;
    try {
      const value = await withTimeout(readAll(), timeoutMs);
      if (value === "timeout") throw noAnswer(timeoutMs);
      isUsable = true;
      return value;
    } finally {
      connection.release(!isUsable);
    }
  } catch (error) {
    throw databaseError("reading the state of the copy", error);
  }
}

const noAnswer = (ms: number) => new Error(`no answer within ${ms / 1000} s`);

/** A value is kept for half a second, and for longer if the read is slow, so that reading takes at most a twentieth of the time. */
const MIN_AGE_MS = 500;
const AGE_PER_READ = 20;

/** The value that was last read, and the error if the last read failed. */
interface Cached<T> {
  /** Null before the first successful read. */
  readonly value: T | null;
  readonly error: Error | null;
}

/** Concurrent callers share one read. A read that fails leaves the last value. */
function createCache<T>(read: () => Promise<T | null>, waitMs: number) {
  let cached: Cached<T> = { value: null, error: null };
  let expiredAt = Number.NEGATIVE_INFINITY;
  let freshUntil = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;
  const refresh = async () => {
    const startedAt = performance.now();
    let keepMs = MIN_AGE_MS;
    try {
      cached = { value: await read(), error: null };
      keepMs = Math.max(keepMs, AGE_PER_READ * (performance.now() - startedAt));
    } catch (thrown) {
      cached = { ...cached, error: toError(thrown) };
    }
    freshUntil = startedAt < expiredAt ? Number.NEGATIVE_INFINITY : performance.now() + keepMs;
    reading = null;
  };
  return {
    /** Waits up to `waitMs` for a fresh value. */
    async get(): Promise<Cached<T>> {
      const giveUpAt = performance.now() + waitMs;
      while (performance.now() > freshUntil) {
        reading ??= refresh();
        if ((await withTimeout(reading, giveUpAt - performance.now())) === "timeout")
          return { ...cached, error: noAnswer(waitMs) };
      }
      return cached;
    },
    last: () => cached,
    /** Makes a value stale if it was read, or began to be read, before this call. */
    expire() {
      expiredAt = performance.now();
      freshUntil = Number.NEGATIVE_INFINITY;
    },
  };
}

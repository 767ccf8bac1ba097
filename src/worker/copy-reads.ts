import { withTimeout } from "../async.ts";
import { readNow } from "../db/clock.ts";
import { type Connection, oneRow, type Pool } from "../db/connect.ts";
import { readCopyCounts } from "../db/read/read-status.ts";
import { type RunRow, readHolder, readLastGoodRun, readRecentRuns } from "../db/read/recent-runs.ts";
import { readSchemaState, type Schema, type SchemaState } from "../db/schema-state.ts";
import { withTransaction } from "../db/transaction.ts";
import { toError } from "../errors.ts";

/** The facts that a probe waits for. Reading them touches only small tables, however large the copy is. */
export type Basics = Awaited<ReturnType<typeof readBasics>>;
/** The figures of the copy. Reading them scans the tables of libraries and rejects, which is slow for a large copy. */
export type CopyFigures = Awaited<ReturnType<typeof readFigures>>;

export type CopyReads = ReturnType<typeof createCopyReads>;

const BASICS_WAIT_MS = 3_000;
const FIGURES_WAIT_MS = 1_000;
const FIGURES_TIMEOUT_MS = 60_000;

export function createCopyReads(pool: () => Pool | null, schema: Schema) {
  const readOwn = (connection: Connection) => readBasics(connection, schema);
  const basics = createCache(() => readWithin(pool(), BASICS_WAIT_MS, readOwn), BASICS_WAIT_MS);
  const figures = createCache(() => readWithin(pool(), FIGURES_TIMEOUT_MS, readFigures), FIGURES_WAIT_MS);
  return {
    /** Waits up to four seconds. Null before the first successful read. `error`: why the basics could not be read now. */
    async read() {
      const { value, error } = await basics.get();
      // An unreachable database is not asked for more, because a client is waiting.
      if (value !== null && error === null) await figures.get();
      // If the last read of them failed, old figures would look like a copy that is not updated.
      const counted = figures.last();
      return { basics: value, figures: counted.error === null ? counted.value : null, error };
    },
    /** Discards both at the end of a run, and reads the basics while the database is known to be reachable. */
    async refresh(): Promise<void> {
      basics.expire();
      figures.expire();
      await basics.get();
    },
  };
}

/** How many of the newest runs are shown. */
export const MAX_WORKER_RUNS = 30;

async function readBasics(connection: Connection, own: Schema) {
  const ahead = (await readNow(connection)).getTime() - performance.now();
  /** The present by the database's clock, which advances while the database is silent. */
  const now = () => new Date(performance.now() + ahead);
  const schema: SchemaState = await readSchemaState(connection, own);
  const isReadable = schema.kind === "current" || schema.kind === "newer";
  /** Null before the first; undefined if it is unknown, because the schema is older than this program. */
  const unread = schema.version === 0 ? null : undefined;
  const lastGoodRun = isReadable ? await readLastGoodRun(connection, "tables") : unread;
  /** Of a live lease; null if there is none. */
  const holder = isReadable ? await readHolder(connection, "tables") : null;
  /** Newest first. */
  const runs: readonly RunRow[] = isReadable ? await readRecentRuns(connection, MAX_WORKER_RUNS, "tables") : [];
  return { now, schema, lastGoodRun, holder, runs };
}

/** Fails if the role may not read the views of simcat_report, or if their tables are locked. */
async function readFigures(connection: Connection) {
  const counts = await readCopyCounts(connection, "tables");
  const { rows } = await connection.query<{
    database: string;
    /** Null before every library has been stored once. */
    completeAsOf: Date | null;
    /** The service as the last run that saw everything knew it: its start, or the time of a cached listing. */
    seenAsOf: Date | null;
    /** Libraries whose content is known to be older than the last whole run. */
    behind: number;
  }>(
    `SELECT current_database() AS database, c.complete_as_of AS "completeAsOf", c.libraries_behind AS behind, c.seen_as_of AS "seenAsOf"
     FROM simcat_report.data_complete_as_of c`,
  );
  return { ...counts, ...oneRow({ rows }) };
}

/** Gives up after `timeoutMs` and closes the connection, because a probe must not keep one that a run needs. */
async function readWithin<T>(pool: Pool | null, timeoutMs: number, read: (connection: Connection) => Promise<T>) {
  if (pool === null) return null;
  const readInTime = async (connection: Connection) => {
    const value = await withTimeout(read(connection), timeoutMs);
    if (value === "timeout") throw noAnswer(timeoutMs);
    return value;
  };
  const once = { retryForMs: 0, lockAttempts: 1, isSilent: true };
  const options = { operation: "reading the state of the copy", snapshot: true, ...once };
  return withTransaction(pool, options, readInTime, AbortSignal.timeout(timeoutMs));
}

/** It has the code of a lost connection. */
const noAnswer = (ms: number) => Object.assign(new Error(`no answer within ${ms / 1000} s`), { code: "ETIMEDOUT" });

/** A value is kept for half a second, and for longer if the read is slow, so that reading takes at most a twentieth of the time. */
const MIN_AGE_MS = 500;
const AGE_PER_READ = 20;

/** Concurrent callers share one read. A read that fails leaves the last value. */
function createCache<T>(read: () => Promise<T | null>, waitMs: number) {
  let last: { readonly value: T | null; readonly error: Error | null } = { value: null, error: null };
  let expiredAt = 0;
  let freshUntil = 0;
  let reading: Promise<void> | null = null;
  const readAgain = async () => {
    const startedAt = performance.now();
    let keepMs = MIN_AGE_MS;
    try {
      last = { value: await read(), error: null };
      keepMs = Math.max(keepMs, AGE_PER_READ * (performance.now() - startedAt));
    } catch (thrown) {
      last = { ...last, error: toError(thrown) };
    }
    if (startedAt > expiredAt) freshUntil = performance.now() + keepMs;
    reading = null;
  };
  return {
    /** Waits up to `waitMs` for a fresh value. */
    async get() {
      const giveUpAt = performance.now() + waitMs;
      while (performance.now() >= freshUntil) {
        reading ??= readAgain();
        if ((await withTimeout(reading, giveUpAt - performance.now())) === "timeout")
          return { ...last, error: noAnswer(waitMs) };
      }
      return last;
    },
    last: () => last,
    /** Discards what was read, or began to be read, before this call. */
    expire() {
      expiredAt = performance.now();
      freshUntil = 0;
    },
  };
}

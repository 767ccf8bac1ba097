/** Connections to Postgres, and repetitions while it does not answer. All queries are SQL texts. */
import { Socket } from "node:net";
import { addAbortSignal } from "node:stream";
import pg from "pg";
import { sleep, startTimer, unlessAborted, withTimeout } from "../async.ts";
import { ConfigurationError } from "../errors.ts";
import { databaseError, formatDatabaseFailure, isConnectionLost, isContention, isLockTimeout } from "./db-errors.ts";

export type Connection = pg.PoolClient;

export interface ConnectOptions {
  /** The maximum number of connections. */
  readonly max?: number;
  /** Called when work on this pool waits: once per outage, per lease, and per period of slow transactions. */
  readonly onWait?: (wait: Wait) => void;
  /** A transaction is announced when it has taken this long, in milliseconds; if absent, never. */
  readonly slowAfterMs?: number;
}

/** The reason why work on a pool is waiting. */
interface Wait {
  readonly code: "waiting_for_database" | "waiting_for_lease";
  readonly message: string;
}

/** A connection that is not opened, or does not answer a short statement, within this time is closed. In milliseconds. */
export const ANSWER_MS = 10_000;
const CONNECT_FOR_MS = 10_000;
const MAX_CONNECTIONS = 5;
/** Operating systems wait two hours before they test an idle connection. */
const KEEP_ALIVE_AFTER_MS = 10_000;
/** No statement of simcat takes this long: a connection that is silent for longer has lost its route. */
const MAX_STATEMENT_MS = 900_000;
const CLOSE_MS = 2_000;
/** Slow transactions that follow each other within this time are announced once. */
const SLOW_PERIOD_MS = 10_000;

/** Parses `int8` as a number where that is exact, otherwise as a bigint. */
const parseInt8 = (text: string): number | bigint => {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
};

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === pg.types.builtins.INT8 && format !== "binary" ? parseInt8 : pg.types.getTypeParser(oid, format as "text"),
};

/** pg treats these modes as verify-full, and warns of it on standard error. Naming verify-full avoids only the warning. */
const withFullVerification = (url: string) =>
  url.includes("uselibpqcompat=") ? url : url.replace(/(?<=[?&]sslmode=)(?:prefer|require|verify-ca)\b/, "verify-full");

/** A connection pool that survives errors of closed connections, and announces waits. */
export class Pool extends pg.Pool {
  /** Aborted to close all connections at once. `end` waits for the server's answers. */
  readonly closing = new AbortController();
  readonly onWait: (wait: Wait) => void;
  readonly slowAfterMs: number | undefined;
  #isOutageAnnounced = false;
  /** When the last slow transaction was noticed, as `performance.now()`. */
  #slowAt = Number.NEGATIVE_INFINITY;

  /** Sets no start-up options, because a pooler in transaction mode refuses them. */
  constructor(url: string, { max = MAX_CONNECTIONS, onWait = () => {}, slowAfterMs }: ConnectOptions) {
    super({
      connectionString: withFullVerification(url),
      max,
      connectionTimeoutMillis: ANSWER_MS,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
      query_timeout: MAX_STATEMENT_MS,
      application_name: "simcat",
      types,
    });
    this.options.stream = () => addAbortSignal(this.closing.signal, new Socket());
    this.onWait = onWait;
    this.slowAfterMs = slowAfterMs;
    // Emitted when the server closes an idle connection; the next query opens another one.
    this.on("error", () => {});
    this.on("connect", (connection) => {
      this.endOutage();
      // Emitted when the server closes this connection; the next query fails.
      connection.on("error", () => {});
    });
  }

  /** Announces once per outage that the database does not answer, or its error. A new connection or a transaction ends the outage. */
  announceOutage(error?: unknown): void {
    if (this.#isOutageAnnounced) return;
    this.#isOutageAnnounced = true;
    this.#announce(error === undefined ? "no answer yet" : formatDatabaseFailure(error));
  }

  endOutage(): void {
    this.#isOutageAnnounced = false;
  }

  /** Announces that a transaction takes long. It may wait for a lock, or be at work. */
  announceSlow(operation: string): void {
    const isContinued = performance.now() - this.#slowAt < SLOW_PERIOD_MS;
    this.#slowAt = performance.now();
    if (!isContinued && !this.#isOutageAnnounced) this.#announce(operation);
  }

  #announce(reason: string): void {
    this.onWait({ code: "waiting_for_database", message: `waiting for the database: ${reason}` });
  }
}

/**
 * Opens a pool and waits until its database answers.
 * @throws DatabaseError if it does not answer in time, ConfigurationError if its encoding cannot hold the service's texts
 */
export async function connect(url: string, options: ConnectOptions, signal: AbortSignal): Promise<Pool> {
  const pool = new Pool(url, options);
  const statement = within(ANSWER_MS, "SELECT current_setting('server_encoding') AS encoding");
  const attempt = () => unlessAborted(pool.query<{ encoding: string }>(statement), signal);
  const onWait = (error: unknown) => pool.announceOutage(error);
  const patience = { retryForMs: CONNECT_FOR_MS, onWait, slowAfterMs: ANNOUNCE_AFTER_MS };
  try {
    const answer = await retryTransient(attempt, signal, patience);
    if (oneRow(answer).encoding === "UTF8") return pool;
    throw new ConfigurationError(
      "the database's encoding is not UTF8, so it cannot hold every name the service may send",
      { hint: "create one with ENCODING 'UTF8'" },
    );
  } catch (error) {
    pool.closing.abort();
    await disconnect(pool);
    signal.throwIfAborted();
    throw error instanceof ConfigurationError ? error : databaseError("connecting to the database", error);
  }
}

/** A statement that fails, and loses its connection, if it is not answered within `ms` milliseconds. */
export function within(ms: number, text: string, values?: unknown[]): pg.QueryConfig {
  const query = { text, ...(values && { values }), query_timeout: ms };
  return query;
}

/** The row of a query that always returns one, such as an aggregate. */
export function oneRow<Row>({ rows: [row] }: { readonly rows: readonly Row[] }): Row {
  if (row === undefined) throw new Error("a query that always returns a row returned none");
  return row;
}

/** Closes the pool. Waits at most two seconds for connections on which the server no longer answers. */
export async function disconnect(pool: Pool): Promise<void> {
  await withTimeout(pool.end(), CLOSE_MS);
  pool.closing.abort();
}

/** In milliseconds: long enough for a server to restart. */
const RETRY_FOR_MS = 30_000;
const CONTENTION_ATTEMPTS = 5;
const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 2_000;
/** A shorter wait is not announced, in milliseconds. */
export const ANNOUNCE_AFTER_MS = 1_000;

export interface RetryOptions {
  /** How long to retry while the server cannot be reached, in milliseconds. With 0, a lost connection is final. */
  readonly retryForMs?: number;
  /** How many attempts may end with a lock timeout. */
  readonly lockAttempts?: number;
  /** Called once, after a second without success, with the last attempt's error. */
  readonly onWait?: (error: unknown) => void;
  /** Call `onWait` also after this time in milliseconds; the error is undefined if the first attempt has not ended. */
  readonly slowAfterMs?: number | undefined;
}

/**
 * Retries `attempt` with full jitter: at most five times in all after deadlocks, serialization failures and lock timeouts,
 * and for some time after lost connections.
 * @throws the last attempt's error, or the signal's reason
 */
export async function retryTransient<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal,
  { retryForMs = RETRY_FOR_MS, lockAttempts = CONTENTION_ATTEMPTS, onWait, slowAfterMs }: RetryOptions = {},
): Promise<T> {
  const beganAt = performance.now();
  let contended = 0;
  let lastError: unknown;
  const timers: NodeJS.Timeout[] = [];
  const announceAfter = (ms: number) =>
    timers.push(startTimer(() => onWait?.(lastError), beganAt + ms - performance.now()));
  const mayRetry = (error: unknown, attempts: number): boolean => {
    if (isContention(error)) return ++contended < (isLockTimeout(error) ? lockAttempts : CONTENTION_ATTEMPTS);
    // Always at least two attempts: if the machine sleeps during the first, all the time seems to have passed in it.
    const hasTime = performance.now() - beganAt < retryForMs || (attempts === 1 && retryForMs > 0);
    return isConnectionLost(error) && hasTime;
  };
  if (slowAfterMs !== undefined) announceAfter(slowAfterMs);
  try {
    for (let attempts = 1; ; attempts++) {
      signal.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        if (!mayRetry(error, attempts)) throw error;
        lastError = error;
        if (attempts === 1) announceAfter(ANNOUNCE_AFTER_MS);
      }
      await sleep(Math.random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempts), signal);
    }
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}

import type { EventEmitter } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { unlessAborted } from "../async.ts";
import { ConfigurationError } from "../errors.ts";
import { databaseError, failureText } from "./failures.ts";
import { ANNOUNCE_AFTER_MS, persist } from "./patience.ts";

export type Pool = pg.Pool;
export type Connection = pg.PoolClient;

export interface ConnectOptions {
  /** Connections at the most. */
  readonly max?: number;
  /** How long a database that does not answer is waited for, in milliseconds. */
  readonly patienceMs?: number;
  /** Called when work on this pool has been waiting for a second: once per outage, and once per lease. */
  readonly onWait?: (wait: Wait) => void;
}

/** Why work on a pool does not go on. */
export interface Wait {
  readonly code: "waiting_for_database" | "waiting_for_lease";
  readonly message: string;
}

/** The event of a pool that carries a `Wait`. */
const WAIT = "wait";
/** A connection is opened, and any instant statement is answered, within this time, or the connection is given up. */
export const ANSWER_MS = 10_000;

/** `int8` as a number where that is exact, else as a bigint. */
const readInt8 = (text: string): number | bigint => {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
};

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === pg.types.builtins.INT8 && format !== "binary" ? readInt8 : pg.types.getTypeParser(oid, format as "text"),
};

/**
 * A pool whose database answered. No start-up options: a pooler in transaction mode refuses them.
 * @throws DatabaseError when it does not answer in time, ConfigurationError when it cannot hold the service's text
 */
export async function connect(url: string, options: ConnectOptions, signal: AbortSignal): Promise<Pool> {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? 5,
    connectionTimeoutMillis: ANSWER_MS,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    // The system's own default is two hours.
    keepAliveInitialDelayMillis: 10_000,
    // A connection that fell silent (a lost route) must end some day; no statement of ours takes this long.
    query_timeout: 900_000,
    application_name: "simcat",
    types,
  });
  // An idle connection that the server ends reports here; the next query opens another one.
  pool.on("error", () => {});
  pool.on("connect", keepLastWords);
  if (options.onWait) announceTo(pool, options.onWait);
  try {
    if ((await readEncoding(pool, options.patienceMs ?? 10_000, signal)) === "UTF8") return pool;
    throw new ConfigurationError(
      "the database's encoding is not UTF8, so it cannot hold every name the service may send; create one with ENCODING 'UTF8'",
    );
  } catch (error) {
    await disconnect(pool);
    throw error;
  }
}

/** An outage is announced once: the next connection that is made ends it. */
function announceTo(pool: Pool, onWait: (wait: Wait) => void): void {
  let isAway = false;
  pool.on("connect", () => {
    isAway = false;
  });
  (pool as EventEmitter).on(WAIT, (wait: Wait) => {
    if (wait.code === "waiting_for_database" && isAway) return;
    isAway ||= wait.code === "waiting_for_database";
    onWait(wait);
  });
}

/** Tells whoever opened the pool why its work does not go on. */
export function announce(pool: Pool, wait: Wait): void {
  pool.emit(WAIT, wait);
}

/** Announces that the database does not answer, or what it answered last. */
export function announceOutage(pool: Pool, error?: unknown): void {
  const said = error === undefined ? "no answer yet" : failureText(error);
  announce(pool, { code: "waiting_for_database", message: `waiting for the database: ${said}` });
}

/** A statement that fails, and costs its connection, when it is not answered within `ms` milliseconds. */
export function within(ms: number, text: string, values?: unknown[]): pg.QueryConfig {
  const query = { text, ...(values && { values }), query_timeout: ms };
  return query;
}

const lastWords = new WeakMap<Connection, Error>();

/** Also while a connection is handed over, when nobody else listens to it: its end may come in that very packet. */
function keepLastWords(connection: Connection): void {
  connection.on("error", (error) => {
    if (error instanceof pg.DatabaseError) lastWords.set(connection, error);
  });
}

/**
 * What the server said as it ended the session of this connection between two statements: to the next one the driver says only
 * that there is none. Undefined when it said nothing, or said it to a statement.
 */
export function endedBy(connection: Connection): Error | undefined {
  return lastWords.get(connection);
}

async function readEncoding(pool: Pool, patienceMs: number, signal: AbortSignal): Promise<string | undefined> {
  const question = within(ANSWER_MS, "SELECT current_setting('server_encoding') AS encoding");
  const ask = () => unlessAborted(pool.query<{ encoding: string }>(question), signal);
  const announcing = setTimeout(() => announceOutage(pool), ANNOUNCE_AFTER_MS);
  try {
    const { rows } = await persist(ask, signal, { patienceMs });
    return rows[0]?.encoding;
  } catch (error) {
    signal.throwIfAborted();
    throw databaseError("connecting to the database", error);
  } finally {
    clearTimeout(announcing);
  }
}

/** Closes the pool; a connection that the server no longer answers on does not hold us up. */
export async function disconnect(pool: Pool): Promise<void> {
  await Promise.race([pool.end(), sleep(2_000, undefined, { ref: false })]);
}

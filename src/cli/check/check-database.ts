import type { Config } from "../../config.ts";
import { createClock } from "../../db/clock.ts";
import { type Connection, connect, disconnect, type Pool } from "../../db/connect.ts";
import { databaseError } from "../../db/db-errors.ts";
import { lockError } from "../../db/lock-holders.ts";
import { readMissingObjects } from "../../db/missing-objects.ts";
import { readMigrationLacks, readRunLacks } from "../../db/privileges.ts";
import { loadSchema, readSchemaState } from "../../db/schema-state.ts";
import { readServer, unencryptedAddress } from "../../db/server.ts";
import { withTransaction } from "../../db/transaction.ts";
import { ConfigurationError, SimcatError } from "../../errors.ts";
import type { CheckLine } from "../../output/check.ts";
import { maskDatabaseUrl } from "../../secrets.ts";
import { type DatabaseUrls, findMissingEmbedded, withDatabaseUrls } from "../connections.ts";
import type { Context } from "../context.ts";
import { loadEssential } from "./check-configuration.ts";
import { judgeClock, judgeEncryption, judgePrivileges, judgeSchema, judgeServer } from "./judge-database.ts";
import { failedBy, ok, skipped, warn } from "./lines.ts";

/** In the order of the report. */
const CHECKS = ["database", "encoding", "schema", "privileges", "clock"];

/** No retries: a check reports the state now, while a run waits for a database that does not answer. */
const CHECK_RETRY_FOR_MS = 0;

/** A run waits half a minute for a lock that another session holds. */
const CHECK_LOCK_TIMEOUT_MS = 2_000;
const READ_TIMEOUT_MS = 10_000;

type Lines = AsyncGenerator<CheckLine, void>;

/** Checks the database, its encoding, its schema, the privileges of the role, and its clock. Creates nothing. */
export async function checkDatabase(context: Context): Promise<CheckLine[]> {
  const config = loadEssential(context, { service: false, database: true }, ["DATABASE_URL"]);
  if (config === null) return CHECKS.map((check) => skipped(check, "requires a valid configuration"));
  const { stop } = context;
  try {
    const missingIn = await findMissingEmbedded(context, config);
    if (missingIn !== null) {
      return missingLines(missingIn);
    }
    return await withDatabaseUrls(context, config, async (urls) => {
      const lines = await collectLines(CHECKS, checkUrl(config, urls, stop), stop);
      if (config.databaseDirectUrl === config.databaseUrl) return lines;
      return [...lines, ...(await collectLines(["direct"], checkDirectUrl(config, urls, stop), stop))];
    });
  } catch (error) {
    stop.throwIfAborted();
    return linesOfError(CHECKS, error);
  }
}

function missingLines(stateDir: string): CheckLine[] {
  const [database = "database", ...others] = CHECKS;
  const text = `DATABASE_URL is not set: the first run creates an embedded database in ${stateDir}`;
  return [ok(database, text), ...others.map((check) => skipped(check, "there is no database yet"))];
}

/** Collects lines until an error, which fails the next check and skips those after it. */
async function collectLines(
  checks: readonly string[],
  found: AsyncIterable<CheckLine>,
  signal: AbortSignal,
): Promise<CheckLine[]> {
  const lines: CheckLine[] = [];
  try {
    for await (const line of found) lines.push(line);
    return lines;
  } catch (error) {
    signal.throwIfAborted();
    return [...lines, ...linesOfError(checks.slice(lines.length), error)];
  }
}

function linesOfError([failed = "database", ...others]: readonly string[], error: unknown): CheckLine[] {
  return [failedBy(failed, error), ...others.map((check) => skipped(check, `depends on ${failed}`))];
}

/** Checks the database that DATABASE_URL names. */
async function* checkUrl(config: Config, { url }: DatabaseUrls, signal: AbortSignal): Lines {
  const where = config.databaseUrl === null ? "the embedded database" : maskDatabaseUrl(url);
  let pool: Pool;
  try {
    pool = await connect(url, { max: 1, retryForMs: CHECK_RETRY_FOR_MS }, signal);
  } catch (error) {
    // It answered, but its encoding is wrong.
    if (error instanceof ConfigurationError) yield ok("database", `${where} answered`);
    throw error;
  }
  try {
    yield* checkPool(pool, where, config, signal);
  } catch (error) {
    throw error instanceof SimcatError ? error : databaseError("asking the database", error);
  } finally {
    await disconnect(pool);
  }
}

async function* checkPool(pool: Pool, where: string, config: Config, signal: AbortSignal): Lines {
  const read = <T>(work: (connection: Connection) => Promise<T>) => readBounded(pool, work, signal);
  const server = await read(readServer);
  const address = await read(async (connection) => unencryptedAddress(connection));
  yield judgeEncryption(judgeServer(server, where), address, "DATABASE_URL");
  yield ok("encoding", `${server.encoding}, which can hold every name`);
  const lacks = await read(readRunLacks);
  if (lacks.some(({ hidesVersion }) => hidesVersion)) {
    yield skipped("schema", "requires the privileges");
    yield judgePrivileges(lacks);
  } else {
    const state = await read(readSchemaState);
    const missing =
      state.kind === "current" ? await read((connection) => readMissingObjects(connection, loadSchema().views)) : null;
    if (missing !== null && lacks.length === 0) {
      await read((connection) =>
        connection.query(missing.tables.map((table) => `SELECT FROM ${table} LIMIT 0`).join(";")),
      );
    }
    yield judgeSchema(state, config.autoMigrate, missing);
    const migratesHere = config.autoMigrate && config.databaseDirectUrl === config.databaseUrl;
    const more = migratesHere && state.kind === "behind" ? await read(readMigrationLacks) : [];
    yield judgePrivileges([...lacks, ...more]);
  }
  const clock = await createClock(pool, signal);
  yield judgeClock(Date.now(), clock.now());
}

/** Checks that DATABASE_DIRECT_URL leads to the same database, with a role that may migrate it. */
async function* checkDirectUrl(config: Config, urls: DatabaseUrls, signal: AbortSignal): Lines {
  const pool = await connect(urls.directUrl, { max: 1, retryForMs: CHECK_RETRY_FOR_MS }, signal);
  try {
    const line = await checkDirectPool(pool, config, urls, signal);
    const address = await readBounded(pool, async (connection) => unencryptedAddress(connection), signal);
    yield judgeEncryption(line, address, "DATABASE_DIRECT_URL");
  } catch (error) {
    throw error instanceof SimcatError ? error : databaseError("asking the database of DATABASE_DIRECT_URL", error);
  } finally {
    await disconnect(pool);
  }
}

async function checkDirectPool(
  pool: Pool,
  { autoMigrate }: Config,
  { url, directUrl }: DatabaseUrls,
  signal: AbortSignal,
): Promise<CheckLine> {
  const where = maskDatabaseUrl(directUrl);
  const state = await readBounded(pool, readSchemaState, signal);
  const lacks = autoMigrate && state.kind === "behind" ? await readBounded(pool, readMigrationLacks, signal) : [];
  if (lacks.length > 0) return { ...judgePrivileges(lacks), check: "direct" };
  if (!(await isElsewhere(pool, url, signal))) return ok("direct", `${where} answered`);
  const hint = "name the same database in both: runs write to what is migrated";
  return warn("direct", `${where} answered, but is another database than that of DATABASE_URL`, hint);
}

/** True if `url` leads to another database; false if it does not answer, which another line reports. */
async function isElsewhere(pool: Pool, url: string, signal: AbortSignal): Promise<boolean> {
  const other = await connect(url, { max: 1, retryForMs: CHECK_RETRY_FOR_MS }, signal).catch(() => null);
  if (other === null) return false;
  try {
    const [here, there] = [await readServer(pool), await readServer(other)];
    return here.startedAt !== there.startedAt || here.database !== there.database;
  } finally {
    await disconnect(other);
  }
}

/**
 * Reads with short time limits for locks and statements.
 * @throws DatabaseError, which names the session that holds a lock
 */
async function readBounded<T>(
  pool: Pool,
  work: (connection: Connection) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const operation = "asking the database";
  const options = { operation, retryForMs: CHECK_RETRY_FOR_MS, lockTimeoutMs: CHECK_LOCK_TIMEOUT_MS, lockAttempts: 1 };
  try {
    return await withTransaction(
      pool,
      options,
      async (connection) => {
        await connection.query(`SET LOCAL statement_timeout = ${READ_TIMEOUT_MS}`);
        return work(connection);
      },
      signal,
    );
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw await lockError(pool, operation, error, signal);
  }
}

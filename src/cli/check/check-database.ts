import type { Config } from "../../config.ts";
import { createClock } from "../../db/clock.ts";
import { type Connection, connect, disconnect, type Pool } from "../../db/connect.ts";
import { asDatabaseError } from "../../db/db-errors.ts";
import { lockError } from "../../db/lock-holders.ts";
import { formatMissing, hintForMissing, type MissingObjects, readMissingObjects } from "../../db/missing-objects.ts";
import { type Lack, readMigrationLacks, readRunLacks } from "../../db/privileges.ts";
import { loadSchema, readSchemaState, type SchemaState, schemaFault } from "../../db/schema-state.ts";
import { readServer, type Server, unencryptedAddress } from "../../db/server.ts";
import { withTransaction } from "../../db/transaction.ts";
import { ConfigurationError, EXIT } from "../../errors.ts";
import { formatElapsed, plural } from "../../format.ts";
import { type CheckLine, fail, failedBy, ok, skipped, warn } from "../../output/check.ts";
import { maskDatabaseUrl } from "../../secrets.ts";
import { type DatabaseUrls, findMissingEmbedded, withDatabaseUrls } from "../connections.ts";
import type { Context } from "../context.ts";
import { loadEssential } from "./check-configuration.ts";

/** In the order of the report. */
const CHECKS = ["database", "encoding", "schema", "privileges", "clock"];

/** A run waits half a minute for a lock that another session holds. */
const CHECK_LOCK_TIMEOUT_MS = 2_000;
const READ_TIMEOUT_MS = 10_000;

type AddLine = (line: CheckLine) => void;

/** Checks the database, its encoding, its schema, the privileges of the role, and its clock. Creates nothing. */
export async function checkDatabase(context: Context): Promise<CheckLine[]> {
  const config = loadEssential(context, { service: false, database: true }, ["DATABASE_URL"]);
  if (config === null) return CHECKS.map((check) => skipped(check, "requires a valid configuration"));
  const { stop } = context;
  return collectLines(CHECKS, stop, async (add) => {
    const missingIn = await findMissingEmbedded(context, config);
    if (missingIn !== null) {
      add(ok("database", `DATABASE_URL is not set: the first run creates an embedded database in ${missingIn}`));
      for (const check of CHECKS.slice(1)) add(skipped(check, "there is no database yet"));
      return;
    }
    await withDatabaseUrls(context, config, async (urls) => {
      const lines = await collectLines(CHECKS, stop, (addTo) => checkUrl(config, urls, addTo, stop));
      if (config.databaseDirectUrl !== config.databaseUrl)
        lines.push(...(await collectLines(["direct"], stop, (addTo) => checkDirectUrl(config, urls, addTo, stop))));
      for (const line of lines) add(line);
    });
  });
}

/** Collects lines until an error, which fails the next check and skips those after it. */
async function collectLines(
  checks: readonly string[],
  signal: AbortSignal,
  work: (add: AddLine) => Promise<void>,
): Promise<CheckLine[]> {
  const lines: CheckLine[] = [];
  try {
    await work((line) => lines.push(line));
    return lines;
  } catch (error) {
    signal.throwIfAborted();
    const [failed = "database", ...others] = checks.slice(lines.length);
    const skippedLines = others.map((check) => skipped(check, `depends on ${failed}`));
    return [...lines, failedBy(failed, asDatabaseError("asking the database", error)), ...skippedLines];
  }
}

/** No retries: a check reports the state now, while a run waits for a database that does not answer. */
async function withPoolOf<T>(url: string, signal: AbortSignal, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = await connect(url, { max: 1, retryForMs: 0 }, signal);
  try {
    return await work(pool);
  } finally {
    await disconnect(pool);
  }
}

/** Checks the database that DATABASE_URL names. */
async function checkUrl(config: Config, { url }: DatabaseUrls, add: AddLine, signal: AbortSignal): Promise<void> {
  const where = config.databaseUrl === null ? "the embedded database" : maskDatabaseUrl(url);
  let isConnected = false;
  try {
    await withPoolOf(url, signal, async (pool) => {
      isConnected = true;
      await readBounded(pool, (connection) => checkConnection(connection, where, config, add), signal);
      const clock = await createClock(pool, signal);
      add(judgeClock(Date.now(), clock.now()));
    });
  } catch (error) {
    // It answered, but its encoding is wrong.
    if (!isConnected && error instanceof ConfigurationError) add(ok("database", `${where} answered`));
    throw error;
  }
}

async function checkConnection(connection: Connection, where: string, config: Config, add: AddLine): Promise<void> {
  const server = await readServer(connection);
  add(judgeEncryption(judgeServer(server, where), unencryptedAddress(connection), "DATABASE_URL"));
  add(ok("encoding", `${server.encoding}, which can hold every name`));
  const lacks = await readRunLacks(connection);
  if (lacks.some(({ hidesVersion }) => hidesVersion)) {
    add(skipped("schema", "requires the privileges"));
    add(judgePrivileges(lacks));
    return;
  }
  const state = await readSchemaState(connection);
  const missing = state.kind === "current" ? await readMissingObjects(connection, loadSchema().views) : null;
  // Waits for the locks that would hold up a run.
  if (missing !== null && lacks.length === 0)
    await connection.query(missing.tables.map((table) => `SELECT FROM ${table} LIMIT 0`).join(";"));
  add(judgeSchema(state, config.autoMigrate, missing));
  const migratesHere = config.autoMigrate && config.databaseDirectUrl === config.databaseUrl;
  const more = migratesHere && state.kind === "behind" ? await readMigrationLacks(connection) : [];
  add(judgePrivileges([...lacks, ...more]));
}

/** Checks that DATABASE_DIRECT_URL leads to the same database, with a role that may migrate it. */
async function checkDirectUrl(
  { autoMigrate }: Config,
  { url, directUrl }: DatabaseUrls,
  add: AddLine,
  signal: AbortSignal,
): Promise<void> {
  const where = maskDatabaseUrl(directUrl);
  await withPoolOf(directUrl, signal, async (pool) => {
    const direct = await readBounded(
      pool,
      async (connection) => {
        const state = await readSchemaState(connection);
        const lacks = autoMigrate && state.kind === "behind" ? await readMigrationLacks(connection) : [];
        return { lacks, server: await readServer(connection), address: unencryptedAddress(connection) };
      },
      signal,
    );
    const { startedAt, database } = direct.server;
    // If DATABASE_URL does not answer, another line reports it.
    const other = await withPoolOf(url, signal, readServer).catch(() => direct.server);
    const line =
      direct.lacks.length > 0
        ? { ...judgePrivileges(direct.lacks), check: "direct" }
        : other.startedAt === startedAt && other.database === database
          ? ok("direct", `${where} answered`)
          : warn(
              "direct",
              `${where} answered, but is another database than that of DATABASE_URL`,
              "name the same database in both: runs write to what is migrated",
            );
    add(judgeEncryption(line, direct.address, "DATABASE_DIRECT_URL"));
  });
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
  const options = { operation, retryForMs: 0, lockTimeoutMs: CHECK_LOCK_TIMEOUT_MS, lockAttempts: 1 };
  const limited = async (connection: Connection) => {
    await connection.query(`SET LOCAL statement_timeout = ${READ_TIMEOUT_MS}`);
    return work(connection);
  };
  try {
    return await withTransaction(pool, options, limited, signal);
  } catch (error) {
    throw await lockError(pool, operation, error, signal);
  }
}

const MIN_MAJOR = 14;
const MAX_MAJOR = 18;

/** Judges whether simcat can work with this server at all. */
export function judgeServer(server: Server, where: string): CheckLine {
  const { versionNumber, version, database, role, readOnly } = server;
  const major = Math.floor(versionNumber / 10_000);
  const text = `${where} answered: Postgres ${version}, database ${database}, role ${role}`;
  const supported = `simcat supports Postgres ${MIN_MAJOR} to ${MAX_MAJOR}`;
  if (major < MIN_MAJOR) return fail("database", EXIT.configuration, text, `${supported}: use one of these`);
  if (readOnly) {
    const refused = `${text}; it refuses writes (a standby?)`;
    return fail("database", EXIT.databaseFailed, refused, "name the primary in DATABASE_URL");
  }
  if (major > MAX_MAJOR) return warn("database", text, `${supported}; a later simcat may support this one`);
  return ok("database", text);
}

const LOOPBACK = /^(?:::1|(?:::ffff:)?127\.[\d.]+)$/;

/** Warns if data passes through a network unencrypted. Another line is returned unchanged. */
export function judgeEncryption(line: CheckLine, unencryptedAddress: string | null, setting: string): CheckLine {
  if (unencryptedAddress === null || LOOPBACK.test(unencryptedAddress)) return line;
  const text = `${line.text}; the connection is not encrypted`;
  if (line.result !== "ok") return { ...line, text };
  return warn(line.check, text, `add sslmode=verify-full to ${setting}`);
}

/** Judges the schema: current, or migrated by the next run. */
export function judgeSchema(
  state: SchemaState,
  autoMigrate: boolean,
  missing: MissingObjects | null = null,
): CheckLine {
  if (missing !== null && missing.names.length > 0) {
    const text = `version ${state.version}, but the database lacks ${formatMissing(missing)}`;
    return fail("schema", EXIT.configuration, text, hintForMissing(missing));
  }
  const fault = schemaFault(state);
  if (fault === null || state.kind === "current") return ok("schema", `version ${state.version}, up to date`);
  if (state.kind === "newer") {
    const text = `version ${state.version} is newer than this simcat: a later one has migrated it`;
    return fail("schema", EXIT.configuration, text, "run that simcat, or a later one");
  }
  if (state.kind === "older") return fail("schema", EXIT.configuration, fault.problem, fault.hint);
  const text =
    state.version === 0 ? "none yet" : `version ${state.version}, ${plural(state.missing, "migration")} behind`;
  if (autoMigrate) return ok("schema", `${text}; it will be migrated by the next run`);
  return fail("schema", EXIT.configuration, text, "run simcat migrate (SIMCAT_AUTO_MIGRATE is false)");
}

/** Judges whether the role may do what a run does. */
function judgePrivileges(lacks: readonly Lack[]): CheckLine {
  if (lacks.length === 0) return ok("privileges", "all that a run needs");
  const missing = lacks.map(({ what }) => what).join("; ");
  const hint = lacks.map(({ grant }) => grant).join(" ");
  return fail("privileges", EXIT.databaseFailed, `lacks ${missing}`, hint);
}

const MAX_CLOCK_DIFFERENCE_MS = 60_000;

/** Judges this machine's clock. simcat decides nothing by it, but people compare log lines by it. */
export function judgeClock(machineMs: number, databaseMs: number): CheckLine {
  const difference = machineMs - databaseMs;
  const elapsed = formatElapsed(Math.abs(difference));
  if (Math.abs(difference) <= MAX_CLOCK_DIFFERENCE_MS) {
    return ok("clock", `this machine's and the database's are ${elapsed} apart`);
  }
  const relation = difference > 0 ? "ahead of" : "behind";
  const text = `this machine's is ${elapsed} ${relation} the database's, which simcat uses`;
  return warn("clock", text, "correct the wrong one; log lines have this machine's time");
}

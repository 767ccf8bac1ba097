import { unlessAborted } from "../../async.ts";
import type { Config } from "../../config.ts";
import { readNow } from "../../db/clock.ts";
import { type Connection, type ConnectOptions, disconnect, Pool } from "../../db/connect.ts";
import { asDatabaseError } from "../../db/db-errors.ts";
import { missingError, readMissingObjects } from "../../db/missing-objects.ts";
import {
  assertMigratable,
  assertUsable,
  loadSchema,
  readSchemaState,
  type SchemaState,
} from "../../db/schema-state.ts";
import {
  type Lack,
  readLacks,
  readSecuredTables,
  readSessionServer,
  type SessionServer,
  unencryptedAddress,
} from "../../db/session.ts";
import { withTransaction } from "../../db/transaction.ts";
import { ConfigurationError, EXIT } from "../../errors.ts";
import { formatElapsed, plural } from "../../format.ts";
import { type CheckLine, fail, failedBy, ok, skipped, warn } from "../../output/check-lines.ts";
import { maskDatabaseUrl } from "../../secrets.ts";
import { announceWaits, type DatabaseUrls, findMissingEmbedded, withDatabaseUrls } from "../connections.ts";
import type { Context } from "../context.ts";
import { loadEssential } from "./check-configuration.ts";

/** In the order of the output. */
const CHECKS = ["database", "encoding", "schema", "privileges", "clock"];

/** A line for each of CHECKS and for DATABASE_DIRECT_URL. Creates nothing. An error fails the next check and skips the others. */
export async function checkDatabase(context: Context): Promise<CheckLine[]> {
  const config = loadEssential(context, ["DATABASE_URL"]);
  if (config === null) return CHECKS.map((check) => skipped(check, "requires a valid configuration"));
  const lines: CheckLine[] = [];
  try {
    const missingIn = await findMissingEmbedded(context, config);
    if (missingIn === null) {
      await withDatabaseUrls(context, config, (urls) => checkUrls(context, config, urls, lines));
    } else {
      lines.push(ok("database", `DATABASE_URL is not set: the first run creates an embedded database in ${missingIn}`));
      for (const check of CHECKS.slice(1)) lines.push(skipped(check, "there is no database yet"));
    }
    return lines;
  } catch (error) {
    context.stop.throwIfAborted();
    const checks = hasDirectUrl(config) ? [...CHECKS, "direct"] : CHECKS;
    const [failed = "database", ...others] = checks.slice(lines.length);
    const skippedLines = others.map((check) => skipped(check, `depends on ${failed}`));
    return [...lines, failedBy(failed, asDatabaseError("asking the database", error)), ...skippedLines];
  }
}

const hasDirectUrl = ({ databaseUrl, databaseDirectUrl }: Config) =>
  databaseUrl !== null && databaseDirectUrl !== null && databaseDirectUrl !== databaseUrl;

/** Checks the database that DATABASE_URL names, and whether DATABASE_DIRECT_URL leads to the same one. */
async function checkUrls(context: Context, config: Config, { url, directUrl }: DatabaseUrls, lines: CheckLine[]) {
  const { stop, terminal } = context;
  const waits = terminal.isErr ? announceWaits(context, config) : {};
  const where = config.databaseUrl === null ? "the embedded database" : maskDatabaseUrl(url);
  const checkPooled = (connection: Connection) => checkConnection(connection, where, config, lines);
  const pooled = await withConnection(url, waits, checkPooled, stop);
  if (!hasDirectUrl(config)) return;
  const check = async (connection: Connection) => {
    const server = await readSessionServer(connection);
    const isSame = server.startedAt === pooled.startedAt && server.database === pooled.database;
    const state = await readSchemaState(connection);
    const lacks = config.autoMigrate && state.kind === "behind" ? await readLacks(connection, "migration") : [];
    if (lacks.length > 0) return lacking("direct", lacks);
    const answered = `${maskDatabaseUrl(directUrl)} answered`;
    if (isSame) return judgeEncryption(ok("direct", answered), unencryptedAddress(connection), "DATABASE_DIRECT_URL");
    const hint = "name the same database in both: runs write to what is migrated";
    return warn("direct", `${answered}, but is another database than that of DATABASE_URL`, hint);
  };
  lines.push(await withConnection(directUrl, waits, check, stop));
}

/** @returns the server, after a line for each of CHECKS */
async function checkConnection(connection: Connection, where: string, config: Config, lines: CheckLine[]) {
  const server = await readSessionServer(connection);
  lines.push(judgeEncryption(judgeServer(server, where), unencryptedAddress(connection), "DATABASE_URL"));
  if (server.encoding !== "UTF8")
    throw new ConfigurationError(`${server.encoding} cannot hold every name`, {
      hint: "create one with ENCODING 'UTF8'",
    });
  lines.push(ok("encoding", `${server.encoding}, which can hold every name`));
  let lacks = await readLacks(connection, "run");
  if (lacks.some(({ hidesVersion }) => hidesVersion)) {
    lines.push(skipped("schema", "requires the privileges"));
  } else {
    const state = await readSchemaState(connection);
    if (state.kind === "current") {
      const missing = await readMissingObjects(connection, loadSchema().views.files);
      if (missing.names.length > 0) throw missingError(missing);
      // Waits for the locks that would hold up a run.
      if (lacks.length === 0)
        await connection.query(missing.tables.map((table) => `SELECT FROM ${table} LIMIT 0`).join(";"));
    }
    lines.push(judgeSchema(state, config.autoMigrate));
    const migratesHere = config.autoMigrate && !hasDirectUrl(config) && state.kind === "behind";
    if (migratesHere) lacks = await readLacks(connection, "run", "migration");
  }
  if (server.readOnly) lines.push(skipped("privileges", "requires a database that accepts writes"));
  else if (lacks.length > 0) lines.push(lacking("privileges", lacks));
  else lines.push(judgeRowSecurity(await readSecuredTables(connection)));
  lines.push(judgeClock(Date.now(), (await readNow(connection)).getTime()));
  return server;
}

/** Runs `work` in a transaction with short time limits and without retries: a check shows the state now. */
async function withConnection<T>(
  url: string,
  waits: ConnectOptions,
  work: (connection: Connection) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const pool = new Pool(url, { max: 1, ...waits });
  // A run waits half a minute for a lock that another session holds.
  const options = { operation: "asking the database", retryForMs: 0, lockTimeoutMs: 2_000, lockAttempts: 1 };
  const limited = async (connection: Connection) => {
    await connection.query("SET LOCAL statement_timeout = 10000");
    return work(connection);
  };
  return unlessAborted(withTransaction(pool, options, limited, signal), signal).finally(() => disconnect(pool));
}

const MIN_MAJOR = 14;
const MAX_MAJOR = 18;

/** Judges whether simcat can work with this server at all. */
export function judgeServer(server: SessionServer, where: string): CheckLine {
  const { versionNumber, version, database, role, readOnly } = server;
  const major = Math.floor(versionNumber / 10_000);
  const text = `${where} answered: Postgres ${version}, database ${database}, role ${role}`;
  const supported = `simcat supports Postgres ${MIN_MAJOR} to ${MAX_MAJOR}`;
  if (major < MIN_MAJOR) return fail("database", EXIT.configuration, text, `${supported}: use one of these`);
  if (readOnly) {
    const refused = `${text}; it refuses writes, so only commands that read work: a standby, or default_transaction_read_only is on`;
    return fail("database", EXIT.database_failed, refused, "name the primary, or a role that writes, in DATABASE_URL");
  }
  if (major > MAX_MAJOR) return warn("database", text, `${supported}; a later simcat may support this one`);
  return ok("database", text);
}

const LOOPBACK = /^(?:::1|(?:::ffff:)?127\.[\d.]+)$/;

/** Warns if data passes through a network unencrypted. Another line is returned unchanged. */
export function judgeEncryption(line: CheckLine, address: string | null, setting: string): CheckLine {
  if (line.result !== "ok" || address === null || LOOPBACK.test(address)) return line;
  return warn(line.check, `${line.text}; the connection is not encrypted`, `add sslmode=verify-full to ${setting}`);
}

/** Judges the schema. @throws ConfigurationError if the next run could neither use it nor migrate it */
export function judgeSchema(state: SchemaState, autoMigrate: boolean): CheckLine {
  if (state.kind === "current") return ok("schema", `version ${state.version}, up to date`);
  assertMigratable(state);
  if (!autoMigrate) assertUsable(state);
  const behind =
    state.version === 0 ? "none yet" : `version ${state.version}, ${plural(state.missing, "migration")} behind`;
  return ok("schema", `${behind}; it will be migrated by the next run`);
}

function lacking(check: string, lacks: readonly Lack[]): CheckLine {
  const missing = lacks.map(({ what }) => what).join("; ");
  return fail(check, EXIT.database_failed, `lacks ${missing}`, lacks.map(({ grant }) => grant).join(" "));
}

function judgeRowSecurity(tables: readonly string[]): CheckLine {
  if (tables.length === 0) return ok("privileges", "all that a run needs");
  const text = `all that a run needs, but row-level security may hide or refuse rows of ${tables.join(", ")}`;
  return warn("privileges", text, "exempt this role with ALTER ROLE … BYPASSRLS, or disable row-level security there");
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

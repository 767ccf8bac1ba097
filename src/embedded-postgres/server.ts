import { execFile } from "node:child_process";
import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { closeSync, openSync, readFileSync } from "node:fs";
import { chmod, chown, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { sleep } from "../async.ts";
import { DatabaseError } from "../errors.ts";
import { type EmbeddedServer, runPostgresProgram } from "./programs.ts";

/** How long to wait for the processes of a server that has crashed. */
const START_MS = 60_000;
/** How long to try its last port, which a crashed server frees within a second. */
const PORT_MS = 2_000;
/** The name of the session that each client keeps open while it needs the server. The system closes those of killed clients. */
const CLIENT = "simcat client";

/**
 * Creates the data under a temporary name and renames it, so that an interruption leaves no partial database.
 * @param superuser makes the role simcat a superuser, for tests
 */
export async function createData(server: EmbeddedServer, superuser: boolean, signal: AbortSignal): Promise<void> {
  const { account, directory, settings } = server;
  const stateDir = join(directory, "..");
  // A program of a killed simcat may still write to its draft. Then the next start removes it.
  for (const name of await readdir(stateDir))
    if (name.startsWith("draft-")) await remove(account, join(stateDir, name)).catch(() => {});
  const draft: EmbeddedServer = { ...server, directory: join(stateDir, `draft-${randomUUID()}`) };
  const data = join(draft.directory, "data");
  try {
    await mkdir(draft.directory, { mode: account === null ? 0o700 : 0o711 });
    await mkdir(data, { mode: 0o700 });
    if (account !== null) await chown(data, account.uid, account.gid);
    const locale = ["-E", "UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
    const initdb = ["initdb", "-U", "postgres", "-A", "reject", "--no-instructions", ...locale];
    await prepare(draft, settings.fsync === "off" ? [...initdb, "--no-sync"] : initdb, "", signal);
    await prepare(draft, singleUser("postgres"), "CREATE DATABASE simcat", signal);
    await createRoles(draft, superuser, signal);
    await rename(draft.directory, directory);
  } catch (error) {
    await remove(account, draft.directory).catch(() => {});
    throw error;
  }
}

/**
 * Creates the roles of deploy/roles.sql, or transfers existing tables to them, and saves their passwords. The one that owns
 * the database is called simcat. The superuser cannot log in, because it has no password, and the server requires one.
 *
 * In data of version 0.1.0 simcat is a superuser, and the directory belongs to the server's account. That data needs it once
 * more, and again after an interruption: `pgpass` is written last.
 */
export async function createRoles(server: EmbeddedServer, superuser: boolean, signal: AbortSignal): Promise<void> {
  const { account, directory } = server;
  if (account !== null) {
    await chown(directory, 0, 0);
    await chmod(directory, 0o711);
  }
  const [simcat, reader] = [randomBytes(24).toString("base64url"), randomBytes(24).toString("base64url")];
  const input = [
    // ALTER ROLE refuses to rename the superuser of version 0.1.0, because it is the session's own role.
    `UPDATE pg_authid SET rolname = CASE oid WHEN 10 THEN 'postgres' ELSE 'simcat_migrator' END WHERE rolname = 'simcat'`,
    "ALTER ROLE postgres PASSWORD NULL",
    // Without the lines for psql.
    readFileSync(new URL("../../deploy/roles.sql", import.meta.url), "utf8").replace(/^\\if[\s\S]*?\\endif$/m, ""),
    "ALTER ROLE simcat_migrator RENAME TO simcat",
    `ALTER ROLE simcat ${superuser ? "SUPERUSER " : ""}PASSWORD '${simcat}'`,
    `ALTER ROLE simcat_reader PASSWORD '${reader}'`,
    "ALTER DATABASE simcat OWNER TO simcat",
    // Otherwise simcat, whose name is that of the schema of the tables, would not find the views.
    "ALTER DATABASE simcat SET search_path = simcat_report, public",
    `DO $$ BEGIN
       EXECUTE format('COPY (SELECT unnest(%L::text[])) TO %L',
         ARRAY['local all all scram-sha-256', 'host all all 127.0.0.1/32 scram-sha-256'], current_setting('hba_file'));
     END $$`,
  ].join(";\n\n");
  await prepare(server, singleUser("simcat"), input, signal);
  // Those of version 0.1.0, which its account could replace by links.
  for (const name of await readdir(directory)) if (name !== "data") await remove(account, join(directory, name));
  const passfile = `127.0.0.1:*:simcat:simcat_reader:${reader}\n`;
  await writeFile(join(directory, "password"), simcat, { mode: 0o600 });
  await writeFile(join(directory, "pgpass"), passfile, { mode: 0o600 });
}

/** A command that executes statements from its standard input, which are separated by empty lines. */
const singleUser = (database: string) => ["postgres", "--single", "-j", "-c", "exit_on_error=on", database];

/** Runs a program on data that no server uses. @throws DatabaseError with its last lines of output */
async function prepare(server: EmbeddedServer, command: readonly string[], input: string, signal: AbortSignal) {
  const { code, output } = await runPostgresProgram(server, command, { input, signal });
  if (code !== 0) throw postgresFailed(`could not prepare its database in ${server.directory}`, output);
}

/** With the last lines of the output of Postgres. */
function postgresFailed(what: string, output: string): DatabaseError {
  const lines = (output.trim() || "(none)").split("\n").slice(-12);
  return new DatabaseError(
    `the embedded Postgres ${what}. Its output:\n${lines.map((line) => `  ${line}`).join("\n")}`,
    { hint: "set DATABASE_URL to a Postgres 14 to 18, or SIMCAT_STATE_DIR to another directory" },
  );
}

/** Root uses `rm` of the system, which follows no link that the server's account puts there meanwhile. */
async function remove(account: EmbeddedServer["account"], path: string): Promise<void> {
  if (account === null) return rm(path, { recursive: true, force: true });
  await promisify(execFile)("/bin/rm", ["-rf", "--", path], { env: {} });
}

/**
 * Attaches to the server, or starts it and attaches. `started`: it was not running.
 * @throws DatabaseError with the last lines of its log
 */
export async function openSession(server: EmbeddedServer, signal: AbortSignal) {
  const began = performance.now();
  let client = await attach(server, signal);
  const started = client === null;
  for (; client === null; client = await attach(server, signal)) {
    const elapsedMs = performance.now() - began;
    const failure = await tryToStart(server, elapsedMs < PORT_MS, signal);
    if (failure === null) continue;
    // Processes of a crashed server are exiting, or the server is stopping.
    const mayPass = /could not bind|Address already in use|still in use|another postmaster/.test(failure);
    if (!mayPass || elapsedMs > START_MS) throw postgresFailed(`in ${server.directory} did not start`, failure);
    await sleep(250, signal);
  }
  return { client, started };
}

/** @returns null if the server does not run or is starting or stopping */
async function attach(server: EmbeddedServer, signal: AbortSignal): Promise<pg.Client | null> {
  // Otherwise another program may listen on the port, and would be sent the password if it asked for it.
  const { code, output } = await runPostgresProgram(server, ["pg_ctl", "status"], { signal });
  if (code !== 0 || !(await isServer(server, output))) return null;
  const client = new pg.Client({
    host: "127.0.0.1",
    port: await readPort(server),
    user: "simcat",
    password: await readFile(join(server.directory, "password"), "utf8"),
    database: "simcat",
    connectionTimeoutMillis: 2_000,
    application_name: CLIENT,
  });
  client.on("error", () => {}); // The next statement throws it.
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    // 57P03: it is starting or stopping.
    if (error instanceof pg.DatabaseError && error.code !== "57P03")
      throw new DatabaseError(`the embedded Postgres refuses simcat's connection: ${error.message}`, { cause: error });
    return null;
  }
}

/**
 * After a crash, and in a copy of the files, the process that `postmaster.pid` names may be any. The server is one that works
 * in the data. Postgres refuses to start because of others, but ignores our process, so the file gets our id. The rest of the
 * file still shows whether processes of the crashed server are alive.
 */
async function isServer(server: EmbeddedServer, status: string): Promise<boolean> {
  const [, pid = ""] = /PID: (\d+)/.exec(status) ?? [];
  if (process.platform !== "linux") return true;
  // The server's account, because root needs a capability to see where a process of another user works.
  const script = `cd "$PGDATA" && [ ! /proc/$1/cwd -ef . ] || exit 0
    { echo $2; tail -n +2 postmaster.pid; } > pid.new && mv pid.new postmaster.pid; exit 1`;
  return (await runPostgresProgram(server, ["/bin/sh", "-c", script, "sh", pid, `${process.pid}`])).code === 0;
}

async function readPort({ directory }: EmbeddedServer): Promise<number> {
  return Number(await readFile(join(directory, "port"), "utf8").catch(() => "0"));
}

/** Starts the server on its last port, or on a random one. @returns null if it accepts connections, otherwise its log */
async function tryToStart(server: EmbeddedServer, onLastPort: boolean, signal: AbortSignal): Promise<string | null> {
  const { directory, settings } = server;
  const last = onLastPort ? await readPort(server) : 0;
  const port = last || randomInt(20_000, 32_000); // Below the ports that Linux gives to clients.
  if (port !== last) await writeFile(join(directory, "port"), String(port));
  const fixed = { listen_addresses: "127.0.0.1", unix_socket_directories: "", log_checkpoints: "off" };
  const options = Object.entries({ ...fixed, ...settings, port }).map(([name, value]) => `-c ${name}=${value}`);
  const path = join(directory, "postgres.log");
  const log = openSync(path, "w", 0o600);
  try {
    // Recovery after a crash during a long load takes minutes.
    const start = ["pg_ctl", "start", "-w", "-t", "600", "-o", options.join(" ")];
    const { code } = await runPostgresProgram(server, start, { log, signal });
    return code === 0 ? null : readFileSync(path, "utf8");
  } finally {
    closeSync(log);
  }
}

/** Tables that grew by more than a tenth since the planner's statistics of them were taken. */
const ANALYZE_GROWN = `DO $$ DECLARE grown regclass; BEGIN
  FOR grown IN SELECT oid FROM pg_class WHERE relnamespace = to_regnamespace('simcat') AND relkind = 'r'
    AND pg_relation_size(oid) > 1.1 * relpages * current_setting('block_size')::int
  LOOP EXECUTE format('ANALYZE (SKIP_LOCKED) %s', grown); END LOOP; END $$`;

/**
 * Ends the session, and stops the server if no other client is left. Autovacuum takes no statistics in a server that runs for
 * less than a minute, and without them some queries of a small organization take minutes. A stop that takes longer than a minute continues; the
 * next client waits for its end.
 */
export async function closeSession(server: EmbeddedServer, client: pg.Client): Promise<void> {
  const others = "SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()";
  const found = await client.query(others, [CLIENT]).catch(() => null); // Null: the server has ended.
  const isLast = found?.rowCount === 0;
  if (isLast) await client.query(ANALYZE_GROWN).catch(() => {});
  await client.end().catch(() => {});
  if (isLast) await runPostgresProgram(server, ["pg_ctl", "stop", "-w", "-m", "fast"]);
}

import { execFile } from "node:child_process";
import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { chmod, chown, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { sleep } from "../async.ts";
import { DatabaseError } from "../errors.ts";
import { type Programs, runPostgresProgram } from "./programs.ts";

/** Recovery after a crash during a long load takes minutes. */
const READY_S = 600;
/** How long to wait for a port, and for the processes of a server that has crashed. */
const START_MS = 60_000;
/** The name of the session that each client keeps open while it needs the server. */
const CLIENT = "simcat client";

/**
 * A server's files are below one directory: `data`, which belongs to the server's account, and files of ours: `password` of
 * the role simcat, `pgpass` of the role simcat_reader, and `port` and `postgres.log` of the last start.
 */
export interface EmbeddedServer {
  readonly programs: Programs;
  readonly directory: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** A client's hold on the server: it runs while such a session is open. The system closes those of killed clients. */
export interface ServerSession {
  readonly client: pg.Client;
  readonly port: number;
  /** False if the server was running already. */
  readonly started: boolean;
}

/**
 * Creates the data under a temporary name and renames it, so that an interruption leaves no partial database.
 * @param superuser makes the role simcat a superuser, for tests
 */
export async function createData(
  { programs, directory, settings }: EmbeddedServer,
  superuser: boolean,
  signal: AbortSignal,
): Promise<void> {
  const { account } = programs;
  const stateDir = join(directory, "..");
  // A program of a killed simcat may still write to its draft. Then the next start removes it.
  for (const name of await readdir(stateDir))
    if (name.startsWith("draft-")) await remove(programs, join(stateDir, name)).catch(() => {});
  const draft: EmbeddedServer = { programs, directory: join(stateDir, `draft-${randomUUID()}`), settings };
  const data = join(draft.directory, "data");
  try {
    await mkdir(draft.directory, { mode: account === null ? 0o700 : 0o711 });
    await mkdir(data, { mode: 0o700 });
    if (account !== null) await chown(data, account.uid, account.gid);
    const locale = ["-E", "UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
    const initdb = ["initdb", "-U", "postgres", "-A", "reject", "--no-instructions", ...locale];
    await prepare(draft, settings.fsync === "off" ? [...initdb, "--no-sync"] : initdb, "", signal);
    await prepare(draft, singleUser("postgres", settings), "CREATE DATABASE simcat", signal);
    await createRoles(draft, superuser, signal);
    await rename(draft.directory, directory);
  } catch (error) {
    await remove(programs, draft.directory).catch(() => {});
    throw error;
  }
}

/**
 * Upgrades data that version 0.1.0 created: there simcat is a superuser, and the directory belongs to the server's account.
 * Needed again after an interruption: `pgpass` is written last.
 */
export async function upgradeData(server: EmbeddedServer, signal: AbortSignal): Promise<void> {
  const { programs, directory } = server;
  if (programs.account !== null) {
    await chown(directory, 0, 0);
    await chmod(directory, 0o711);
  }
  await createRoles(server, false, signal);
}

/**
 * Creates the roles of deploy/roles.sql, or transfers existing tables to them, and saves their passwords. The one that owns
 * the database is called simcat. The superuser cannot log in, because it has no password, and the server requires one.
 */
async function createRoles(server: EmbeddedServer, superuser: boolean, signal: AbortSignal): Promise<void> {
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
  await prepare(server, singleUser("simcat", server.settings), input, signal);
  // Those of version 0.1.0, which its account could replace by links.
  for (const name of await readdir(server.directory))
    if (name !== "data") await remove(server.programs, join(server.directory, name));
  const passfile = `127.0.0.1:*:simcat:simcat_reader:${reader}\n`;
  await writeFile(join(server.directory, "password"), simcat, { mode: 0o600 });
  await writeFile(join(server.directory, "pgpass"), passfile, { mode: 0o600 });
}

/** A command that executes statements from its standard input, which are separated by empty lines. */
function singleUser(database: string, settings: EmbeddedServer["settings"]): string[] {
  const options = Object.entries({ ...settings, exit_on_error: "on" });
  return ["postgres", "--single", "-j", ...options.flatMap(([name, value]) => ["-c", `${name}=${value}`]), database];
}

/** Runs a program on data that no server uses. @throws DatabaseError with its last lines of output */
async function prepare(
  server: EmbeddedServer,
  command: readonly string[],
  input: string,
  signal: AbortSignal,
): Promise<void> {
  const { code, output } = await runPostgresProgram(server.programs, server.directory, command, { input, signal });
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
async function remove({ account }: Programs, path: string): Promise<void> {
  if (account === null) return rm(path, { recursive: true, force: true });
  await promisify(execFile)("/bin/rm", ["-rf", "--", path], { env: {} });
}

/** Attaches to the server, or starts it and attaches. @throws DatabaseError with the last lines of its log */
export async function openSession(server: EmbeddedServer, signal: AbortSignal): Promise<ServerSession> {
  const end = performance.now() + START_MS;
  let started = false;
  for (let portAttempts = 0; ; ) {
    const session = await attach(server, signal);
    if (session !== null) return { ...session, started };
    const failure = await tryToStart(server, portAttempts < 4, signal); // A crashed server frees its port within a second.
    started = failure === null;
    if (failure === null) continue;
    const isPortTaken = /could not bind|Address already in use/.test(failure);
    if (isPortTaken) portAttempts += 1;
    // Processes of a crashed server are exiting, or the server is starting or stopping.
    const mayPass = isPortTaken || /still in use|another postmaster/.test(failure);
    if (!(await replaceStalePid(server, failure)) && (!mayPass || performance.now() > end))
      throw postgresFailed(`in ${server.directory} did not start`, failure);
    await sleep(250, signal);
  }
}

/** @returns null if the server does not run or is starting or stopping, or if another one uses its port */
async function attach(server: EmbeddedServer, signal: AbortSignal): Promise<Omit<ServerSession, "started"> | null> {
  // Otherwise another program may listen on the port, and would be sent the password if it asked for it.
  const { code } = await runPostgresProgram(server.programs, server.directory, ["pg_ctl", "status"], { signal });
  if (code !== 0) return null;
  const port = await readPort(server);
  const client = new pg.Client({
    host: "127.0.0.1",
    port,
    user: "simcat",
    password: await readFile(join(server.directory, "password"), "utf8"),
    database: "simcat",
    connectionTimeoutMillis: 2_000,
    application_name: CLIENT,
  });
  client.on("error", () => {}); // The next statement reports it.
  try {
    await client.connect();
    const { rows } = await client.query("SELECT current_setting('cluster_name') AS name");
    if (rows[0].name === clusterName(server)) return { client, port };
  } catch (error) {
    // A wrong password is that of another server; 57P03: it is starting or stopping.
    if (error instanceof pg.DatabaseError && !/^28|^57P03/.test(error.code ?? ""))
      throw new DatabaseError(`the embedded Postgres refuses simcat's connection: ${error.message}`, { cause: error });
  }
  await client.end().catch(() => {});
  return null;
}

/** Distinguishes the server of this directory from that of a copy, which has the same port and passwords. */
const clusterName = ({ directory }: EmbeddedServer) => `simcat-${readIdentity(join(directory, "data"))}`;

/** Null if the path does not exist or is hidden from this user. */
function readIdentity(path: string): string | null {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}-${ino}`;
  } catch {
    return null;
  }
}

async function readPort({ directory }: EmbeddedServer): Promise<number> {
  return Number(await readFile(join(directory, "port"), "utf8").catch(() => "0"));
}

/** Starts the server on its last port, or on a random one. @returns null if it accepts connections, otherwise its log */
async function tryToStart(server: EmbeddedServer, onLastPort: boolean, signal: AbortSignal): Promise<string | null> {
  const { programs, directory, settings } = server;
  const last = onLastPort ? await readPort(server) : 0;
  const port = last || randomInt(20_000, 32_000); // Below the ports that Linux gives to clients.
  if (port !== last) await writeFile(join(directory, "port"), String(port));
  const fixed = { listen_addresses: "127.0.0.1", unix_socket_directories: "", log_checkpoints: "off" };
  const options = Object.entries({ ...fixed, cluster_name: clusterName(server), ...settings, port });
  const path = join(directory, "postgres.log");
  const log = openSync(path, "w", 0o600);
  try {
    const text = options.map(([name, value]) => `-c ${name}=${value}`).join(" ");
    const start = ["pg_ctl", "start", "-w", "-t", String(READY_S), "-o", text];
    const { code } = await runPostgresProgram(programs, directory, start, { log, signal });
    return code === 0 ? null : readFileSync(path, "utf8");
  } finally {
    closeSync(log);
  }
}

/**
 * Postgres refuses to start if `postmaster.pid` names a process, which after a crash may be any. It ignores our process, so
 * the file gets our id. The rest of the file still shows whether processes of the crashed server are alive.
 * @returns whether `output` reports such a process, and it is not the server: one that works in its data
 */
async function replaceStalePid({ programs, directory }: EmbeddedServer, output: string): Promise<boolean> {
  const [, pid] = /another postmaster \(PID (\d+)\)/.exec(output) ?? [];
  if (pid === undefined || process.platform !== "linux") return false;
  if (readIdentity(`/proc/${pid}/cwd`) === readIdentity(join(directory, "data"))) return false;
  const script = 'cd "$PGDATA" && { echo $1; tail -n +2 postmaster.pid; } > pid.new && mv pid.new postmaster.pid';
  return (await runPostgresProgram(programs, directory, ["/bin/sh", "-c", script, "sh", `${process.pid}`])).code === 0;
}

/**
 * Ends the session, and stops the server if no other client is left. A stop that takes longer than a minute continues; the
 * next client waits for its end.
 */
export async function closeSession({ programs, directory }: EmbeddedServer, { client }: ServerSession): Promise<void> {
  const others = "SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()";
  const found = await client.query(others, [CLIENT]).catch(() => null); // Null: the server has ended.
  await client.end().catch(() => {});
  if (found?.rowCount === 0) await runPostgresProgram(programs, directory, ["pg_ctl", "stop", "-w", "-m", "fast"]);
}

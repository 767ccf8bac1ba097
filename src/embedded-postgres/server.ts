import { randomInt } from "node:crypto";
import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { poll, sleep } from "../async.ts";
import { ConfigurationError, DatabaseError, hasErrorCode } from "../errors.ts";
import { lastLines, type Programs, runPostgresProgram } from "./programs.ts";

/** Recovery after a crash during a long load takes minutes. */
const READY_S = 600;
/** How long to wait for a port, and for the processes of a server that has crashed or is shutting down. */
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
  readonly password: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** A client's hold on the server: it runs while such a session is open. The system closes those of killed clients. */
export interface ServerSession {
  readonly client: pg.Client;
  readonly port: number;
  /** False if the server was running already. */
  readonly started: boolean;
  /** False after the server has ended. */
  readonly isOpen: () => boolean;
}

/** Attaches to the server, or starts it and attaches. @throws DatabaseError with the last lines of its log */
export async function openSession(server: EmbeddedServer, signal: AbortSignal): Promise<ServerSession> {
  const end = performance.now() + START_MS;
  let started = false;
  for (let attempt = 1; ; attempt++) {
    const session = await attach(server, started, signal);
    if (session !== null) return session;
    const failure = await tryToStart(server, attempt, signal);
    started = failure === null;
    if (failure === null) continue;
    assertSameVersion(server.directory, failure);
    // Another program took the port; processes of a crashed server are exiting; the server is starting or stopping.
    const mayPass = /could not bind|Address already in use|still in use|another postmaster/.test(failure);
    const isReplaced = await replaceStalePid(server.programs, server.directory, failure);
    if (!isReplaced && (!mayPass || performance.now() > end))
      throw new DatabaseError(
        `the embedded Postgres in ${server.directory} did not start. Its output:\n${lastLines(failure)}`,
      );
    await sleep(250, signal);
  }
}

/** @returns null if the server does not run, or if another one uses its port */
async function attach(server: EmbeddedServer, started: boolean, signal: AbortSignal): Promise<ServerSession | null> {
  // Otherwise another program may listen on the port, and would be sent the password if it asked for it.
  if ((await runPostgresProgram(server.programs, server.directory, ["pg_ctl", "status"])).code !== 0) return null;
  const port = await readPort(server);
  const tryOnce = async () => {
    const client = new pg.Client({
      host: "127.0.0.1",
      port,
      user: "simcat",
      password: server.password,
      database: "simcat",
      connectionTimeoutMillis: 2_000,
      application_name: CLIENT,
    });
    let isOpen = true;
    client.on("error", () => {}); // The next statement reports it.
    client.once("end", () => {
      isOpen = false;
    });
    try {
      await client.connect();
      const { rows } = await client.query("SELECT current_setting('cluster_name') AS name");
      if (rows[0].name === clusterName(server)) return { client, port, started, isOpen: () => isOpen };
    } catch (error) {
      if (hasErrorCode(error, "57P03")) return null; // It is starting or stopping.
      if (error instanceof pg.DatabaseError && !error.code?.startsWith("28"))
        throw new DatabaseError(`the embedded Postgres refuses simcat's connection: ${error.message}`, {
          cause: error,
        });
    }
    await client.end().catch(() => {});
    return "none"; // Not even a Postgres, or that of a copy of the directory.
  };
  const found = await poll(tryOnce, READY_S * 1000, signal);
  return found === "none" ? null : found;
}

/** Distinguishes the server of this directory from that of a copy, which has the same port and passwords. */
function clusterName({ directory }: EmbeddedServer): string {
  return `simcat-${readIdentity(join(directory, "data"))}`;
}

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
async function tryToStart(server: EmbeddedServer, attempt: number, signal: AbortSignal): Promise<string | null> {
  const { programs, directory, settings } = server;
  const last = attempt < 5 ? await readPort(server) : 0; // A crashed server frees its port within a second.
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

/** @throws ConfigurationError if a program of Postgres reports that another major version created the data */
export function assertSameVersion(directory: string, output: string): void {
  const [, made, own] = /version (\d+)\S* which is not compatible with this version (\d+)/.exec(output) ?? [];
  if (made === undefined) return;
  throw new ConfigurationError(
    `${join(directory, "data")} was created by Postgres ${made}, but this simcat contains Postgres ${own}`,
    {
      hint: "set SIMCAT_STATE_DIR to another directory and run simcat backfill, or set DATABASE_URL to a Postgres that contains that data",
    },
  );
}

/**
 * Postgres refuses to start if `postmaster.pid` names a process, which after a crash may be any. It ignores our process, so
 * the file gets our id. The rest of the file still shows whether processes of the crashed server are alive.
 * @returns whether `output` reports such a process, and it is not the server: one that works in its data
 */
export async function replaceStalePid(programs: Programs, directory: string, output: string): Promise<boolean> {
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

import { execFile } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { poll, sleep } from "../async.ts";
import { DatabaseError, hasErrorCode } from "../errors.ts";
import type { Cluster } from "./cluster.ts";
import { processIdentity, programName } from "./processes.ts";

const RECOVERY_TIMEOUT_MS = 10 * 60_000;
const REFUSAL_TIMEOUT_MS = 10_000;

/** The content of a running server's `postmaster.pid`. */
interface Postmaster {
  readonly pid: number;
  /** Null while it is not known yet. */
  readonly port: number | null;
  readonly ready: boolean;
}

/** The server that runs on a data directory; null if none does. */
export async function readPostmaster(data: string): Promise<Postmaster | null> {
  const lines = await readLines(data);
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0 || !isPostgres(pid)) return null;
  return { pid, port: Number(lines[3]) || null, ready: lines[7]?.trim() === "ready" };
}

/**
 * Replaces the process id in a stale `postmaster.pid`. After a crash it may name a zombie or an unrelated process, and
 * Postgres then refuses to start. Postgres ignores its own parent, so the file gets our id. The rest of the file still shows
 * whether backends of the crashed server are alive.
 */
export async function disownPostmaster(data: string): Promise<void> {
  const [pid, ...rest] = await readLines(data);
  if (pid === undefined || pid === "") return;
  await writeFile(join(data, "postmaster.pid"), [process.pid, ...rest].join("\n"));
}

function isPostgres(pid: number): boolean {
  return processIdentity(pid) !== null && (process.platform === "win32" || programName(pid).includes("postgres"));
}

async function readLines(data: string): Promise<string[]> {
  try {
    return (await readFile(join(data, "postmaster.pid"), "utf8")).split("\n");
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return [];
    throw error;
  }
}

/**
 * Returns the port of the server that runs on a cluster, null if none does. Waits for a server that is starting or stopping.
 * The caller has registered itself as a client, so no other process stops the server meanwhile.
 */
export async function attachToServer(cluster: Cluster, password: string, signal: AbortSignal): Promise<number | null> {
  const start = performance.now();
  for (;;) {
    const port = await poll(() => steadyPort(cluster), RECOVERY_TIMEOUT_MS, signal);
    if (port === null || port === "none") return null;
    try {
      await ensureDatabase(port, password);
      return port;
    } catch (error) {
      if (!hasErrorCode(error, "ECONNREFUSED", "ECONNRESET", "57P03"))
        throw new DatabaseError(`the embedded Postgres on port ${port} refuses simcat's connection: ${error}`, {
          cause: error,
        });
      // It is shutting down, or its process id belongs to another Postgres now, which ours detects at its start.
      if (performance.now() - start > REFUSAL_TIMEOUT_MS) return null;
      await sleep(50, signal);
    }
  }
}

async function steadyPort(cluster: Cluster): Promise<number | "none" | null> {
  const running = await readPostmaster(cluster.data);
  if (running === null) return "none";
  return running.ready && !(await isClosing(cluster)) ? running.port : null;
}

/** The watchdog marks the cluster a moment before it stops the server. An older mark is left from a killed watchdog. */
async function isClosing(cluster: Cluster): Promise<boolean> {
  const mark = await stat(cluster.closing).catch(() => null);
  return mark !== null && Date.now() - mark.mtimeMs < 5_000;
}

export function databaseUrl(port: number, password: string, database = "simcat"): string {
  return `postgres://simcat:${password}@127.0.0.1:${port}/${database}`;
}

/** Connects with our password, and creates the database `simcat` if it is missing. */
async function ensureDatabase(port: number, password: string): Promise<void> {
  try {
    await runStatement(databaseUrl(port, password), "SELECT 1");
  } catch (error) {
    if (!hasErrorCode(error, "3D000")) throw error; // invalid_catalog_name
    await runStatement(databaseUrl(port, password, "postgres"), "CREATE DATABASE simcat");
  }
}

async function runStatement(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on("error", () => {}); // A connection that is lost after its result does not matter.
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Ends all sessions and shuts the server down. A server that takes too long is aborted, and recovers at its next start. */
export async function stopServer(pid: number, data: string, native: string): Promise<void> {
  const never = new AbortController().signal; // A half-stopped server is of no use.
  const gone = () => (processIdentity(pid) === null ? true : null);
  for (const [mode, timeoutMs] of [
    ["fast", 30_000],
    ["immediate", 10_000],
  ] as const) {
    await requestShutdown(pid, mode, data, native);
    if (await poll(gone, timeoutMs, never)) return;
  }
  throw new DatabaseError(`the embedded Postgres (process ${pid}, ${data}) does not stop`, {
    hint: "end that process",
  });
}

async function requestShutdown(pid: number, mode: "fast" | "immediate", data: string, native: string): Promise<void> {
  if (process.platform === "win32") {
    await promisify(execFile)(join(native, "bin", "pg_ctl"), ["stop", "-D", data, "-m", mode, "-W"]);
    return;
  }
  try {
    process.kill(pid, mode === "fast" ? "SIGINT" : "SIGQUIT");
  } catch {
    // It has exited already.
  }
}

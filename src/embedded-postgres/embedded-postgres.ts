import { readFile, rm } from "node:fs/promises";
import { ConfigurationError, DatabaseError, hasErrorCode, toError } from "../errors.ts";
import { findBinaries, prepareBinaries } from "./binaries.ts";
import { liveRegistrations, registerClient, withLock } from "./client-registrations.ts";
import { type Cluster, clusterIn, createCluster, hasCluster } from "./cluster.ts";
import { chooseServerUser, type Launcher } from "./launch.ts";
import { attachToServer, databaseUrl, readPostmaster, stopServer } from "./postmaster.ts";
import { startServer } from "./start-server.ts";
import { createStateDir, embeddedStateDir, isWritable, type StateDirOptions, tryCreatingIn } from "./state-dir.ts";
import { superviseServer } from "./supervise.ts";

interface EmbeddedOptions extends StateDirOptions {
  /** Postgres settings, such as `fsync: "off"` for a disposable database. No effect when attaching to a running server. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Receives a line for each step that takes a while. */
  readonly onProgress?: (text: string) => void;
  /** If given, a server that ends is restarted until `stop`, and each outcome is reported here. */
  readonly onRestart?: (text: string) => void;
}

export interface EmbeddedPostgres {
  /** `postgres://simcat:…@127.0.0.1:PORT/simcat` */
  readonly url: string;
  /** A command line to paste. */
  readonly psql: string;
  readonly dataDirectory: string;
  /** False if the server was running already. */
  readonly started: boolean;
  /** Detaches from the server. The last client stops it. */
  stop(): Promise<void>;
}

/**
 * Opens a real Postgres in the state directory: created on first use, started if it is not running, otherwise attached to.
 * @throws ConfigurationError if this machine cannot run one, DatabaseError with the output of Postgres if it does not start
 */
export async function openEmbeddedPostgres(options: EmbeddedOptions, signal: AbortSignal): Promise<EmbeddedPostgres> {
  const installed = findBinaries();
  try {
    const stateDir = await createStateDir(options);
    const cluster = clusterIn(stateDir);
    const user = chooseServerUser(cluster.data);
    const open = async () => {
      const native = await prepareBinaries(installed, user, stateDir);
      const launcher = { native, user, environment: options.environment };
      if (!(await hasCluster(cluster, installed.major))) {
        options.onProgress?.("preparing the embedded database (first time only)");
        await createCluster({ stateDir, durable: options.settings?.fsync !== "off" }, launcher, signal);
      }
      return openServer(stateDir, launcher, options, signal);
    };
    return await withLock(stateDir, open, signal);
  } catch (error) {
    throw asKnownError(error, embeddedStateDir(options));
  }
}

/**
 * Returns the directory in which the embedded database would be created; null if it exists already. Creates nothing.
 * @throws ConfigurationError if this machine cannot have one
 */
export async function findMissingDatabase(options: StateDirOptions): Promise<string | null> {
  const { major } = findBinaries();
  const stateDir = embeddedStateDir(options);
  try {
    if (await hasCluster(clusterIn(stateDir), major)) return null;
  } catch (error) {
    throw asKnownError(error, stateDir);
  }
  if (isWritable(stateDir)) return stateDir;
  throw cannotStore(stateDir);
}

/**
 * Checks that the embedded database can be created, and leaves nothing behind.
 * @throws ConfigurationError or DatabaseError with the reason
 */
export function assertCreatable(options: StateDirOptions): void {
  const stateDir = embeddedStateDir(options);
  try {
    tryCreatingIn(stateDir);
  } catch (error) {
    throw asKnownError(error, stateDir);
  }
}

/** Attaches to the server of a state directory, or starts it. The caller holds the lock. */
async function openServer(
  stateDir: string,
  launcher: Launcher,
  { settings = {}, onRestart }: EmbeddedOptions,
  signal: AbortSignal,
): Promise<EmbeddedPostgres> {
  const cluster = clusterIn(stateDir);
  const password = await readPassword(cluster);
  const registration = await registerClient(cluster.clients);
  const connect = (until: AbortSignal) => attachOrStart(cluster, password, { settings, launcher }, until);
  try {
    const { port, started } = await connect(signal);
    const restart = (ended: AbortSignal) =>
      withLock(stateDir, async () => assertSamePort(port, (await connect(ended)).port), ended);
    const endSupervision = onRestart === undefined ? null : superviseServer(cluster, restart, onRestart);
    const url = databaseUrl(port, password);
    const close = async () => {
      await endSupervision?.();
      await rm(registration, { force: true });
      await stopIfLast(stateDir, launcher.native);
    };
    let closed: Promise<void> | null = null;
    const stop = () => {
      closed ??= close();
      return closed;
    };
    return { url, psql: `psql '${url}'`, dataDirectory: cluster.data, started, stop };
  } catch (error) {
    await rm(registration, { force: true });
    await stopUnused(cluster, launcher.native);
    throw error;
  }
}

interface StartOptions {
  readonly settings: Readonly<Record<string, string>>;
  readonly launcher: Launcher;
}

async function attachOrStart(
  cluster: Cluster,
  password: string,
  { settings, launcher }: StartOptions,
  signal: AbortSignal,
): Promise<{ readonly port: number; readonly started: boolean }> {
  const running = await attachToServer(cluster, password, signal);
  if (running !== null) return { port: running, started: false };
  await startServer(cluster, settings, launcher, signal);
  const port = await attachToServer(cluster, password, signal);
  if (port === null)
    throw new DatabaseError("the embedded Postgres exited after its start", { hint: `see ${cluster.log}` });
  return { port, started: true };
}

/** The URL that was handed out names the old port. */
function assertSamePort(known: number, port: number): void {
  if (port === known) return;
  throw new DatabaseError(`another program uses its port ${known} now, so the server listens on ${port}`, {
    hint: "restart simcat to use it",
  });
}

async function stopIfLast(stateDir: string, native: string): Promise<void> {
  try {
    await withLock(stateDir, () => stopUnused(clusterIn(stateDir), native), AbortSignal.timeout(60_000));
  } catch (error) {
    // The lock cannot be written, or the directory was removed: the watchdog stops the server.
    if (!hasErrorCode(error, "ENOSPC", "EDQUOT", "ENOENT")) throw error;
  }
}

/** Stops the server if no client is left. The caller holds the lock. */
async function stopUnused(cluster: Cluster, native: string): Promise<void> {
  if ((await liveRegistrations(cluster.clients)).length > 0) return;
  const running = await readPostmaster(cluster.data);
  if (running !== null) await stopServer(running.pid, cluster.data, native);
}

async function readPassword(cluster: Cluster): Promise<string> {
  try {
    return await readFile(cluster.password, "utf8");
  } catch (error) {
    if (!hasErrorCode(error, "ENOENT")) throw error;
    throw new ConfigurationError(
      `${cluster.password} is missing, and the embedded database cannot be opened without it`,
      { hint: `restore that file, or remove ${cluster.directory} and run simcat backfill` },
    );
  }
}

/** Adds the consequence and the remedy to a system error. Other errors are returned unchanged. */
function asKnownError(error: unknown, stateDir: string): unknown {
  const reason = toError(error).message;
  if (hasErrorCode(error, "ENOSPC", "EDQUOT") || /No space left on device|Disk quota exceeded/.test(reason))
    return new DatabaseError(`no space for the embedded database in ${stateDir}`, {
      hint: `free some, or set SIMCAT_STATE_DIR to a directory on a larger disk. ${reason}`,
      cause: error,
    });
  if (error instanceof Error && "syscall" in error && String(error.syscall).startsWith("spawn"))
    return new ConfigurationError(`the embedded Postgres does not run on this machine (${reason})`, {
      hint: "set DATABASE_URL to a Postgres 14 to 18",
      cause: error,
    });
  if (hasErrorCode(error, ...UNUSABLE_DIRECTORY)) return cannotStore(stateDir, ` (${reason})`, error);
  return error;
}

const UNUSABLE_DIRECTORY = [
  "EACCES",
  "EPERM",
  "EROFS",
  "ENOENT",
  "ENOTDIR",
  "EEXIST",
  "ENOTEMPTY",
  "ENAMETOOLONG",
  "ELOOP",
];

function cannotStore(stateDir: string, reason = "", cause?: unknown): ConfigurationError {
  const hint = "set SIMCAT_STATE_DIR to a writable directory";
  return new ConfigurationError(`the embedded database cannot be stored in ${stateDir}${reason}`, { hint, cause });
}

import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError, DatabaseError, hasErrorCode, toError } from "../errors.ts";
import { chooseAccount, type EmbeddedServer, findBinaries, prepareBinaries } from "./programs.ts";
import { closeSession, createData, createRoles, openSession } from "./server.ts";
import { createStateDir, embeddedStateDir, type StateDirOptions, tryCreatingIn, withLock } from "./state-dir.ts";

interface EmbeddedOptions extends StateDirOptions {
  /** Postgres settings, such as `fsync: "off"` for a disposable database. No effect when attaching to a running server. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Makes simcat a superuser in a new database, for tests. */
  readonly superuser?: boolean;
  /** Receives a line for each step that takes a while. */
  readonly onProgress?: (text: string) => void;
}

export type EmbeddedPostgres = Awaited<ReturnType<typeof openEmbeddedPostgres>>;

/**
 * Opens a real Postgres in the state directory: created on first use, started if it is not running, otherwise attached to.
 * @throws ConfigurationError if this machine cannot run one, DatabaseError with the output of Postgres if it does not start
 */
export async function openEmbeddedPostgres(options: EmbeddedOptions, signal: AbortSignal) {
  const installed = findBinaries();
  try {
    const stateDir = await createStateDir(options);
    return await withLock(stateDir, () => open(installed, stateDir, options, signal), signal);
  } catch (error) {
    throw asKnownError(error, embeddedStateDir(options));
  }
}

/** The caller holds the lock. */
async function open(
  installed: ReturnType<typeof findBinaries>,
  stateDir: string,
  { environment, settings = {}, superuser = false, onProgress }: EmbeddedOptions,
  signal: AbortSignal,
) {
  const directory = join(stateDir, "postgres");
  const account = chooseAccount(join(directory, "data"));
  if (account !== null && statSync(stateDir).uid === account.uid) {
    const hint = "set SIMCAT_STATE_DIR to a directory of root";
    const problem = `${stateDir} belongs to the account of the embedded Postgres, which could mislead root`;
    throw new ConfigurationError(problem, { hint });
  }
  const native = await prepareBinaries(installed, account, stateDir);
  const server: EmbeddedServer = { directory, native, account, settings, environment };
  const created = !existsSync(directory);
  if (created) {
    onProgress?.("creating the embedded Postgres (first time only), which is for trials: its OpenSSL is of 2018");
    await createData(server, superuser, signal);
  } else if (["password", "pgpass"].some((name) => !existsSync(join(directory, name)))) {
    onProgress?.("renewing the roles of the embedded Postgres; simcat db prints the new URL");
    await createRoles(server, false, signal);
  }
  const password = await readFile(join(directory, "password"), "utf8");
  const readerPassword = (await readFile(join(directory, "pgpass"), "utf8")).trim().split(":").at(-1);
  let session = await openSession(server, signal);
  const { port } = session.client;

  /**
   * Starts the server again if it has ended.
   * @throws DatabaseError if it does not start, or not on the port of `url`
   */
  const ensureRunning = async (signal: AbortSignal): Promise<void> => {
    await session.client.query("SELECT").catch(async () => {
      onProgress?.("the embedded Postgres has ended; starting it again");
      session = await withLock(stateDir, () => openSession(server, signal), signal);
    });
    const { port: current } = session.client;
    if (current === port) return;
    const problem = `another program uses port ${port} of the embedded Postgres, which now listens on ${current}`;
    throw new DatabaseError(problem, { hint: "restart simcat to use it" });
  };
  const address = `127.0.0.1:${port}/simcat`;
  const passfile = join(directory, "pgpass").split("/").map(encodeURIComponent).join("/").replaceAll("'", "%27");
  const quote = process.platform === "win32" ? '"' : "'";
  return {
    /** Of the owner of the database. */
    url: `postgres://simcat:${password}@${address}`,
    /** The same for people, as simcat_reader, which reads only the views. */
    readerUrl: `postgres://simcat_reader:${readerPassword}@${address}`,
    /** A command line to paste. The password is in a file, so that no other user sees it in the list of processes. */
    psql: `psql ${quote}postgres://simcat_reader@${address}?passfile=${passfile}${quote}`,
    dataDirectory: join(directory, "data"),
    /** False if the server was running already. */
    started: session.started,
    /** Whether this call created the database. */
    created,
    ensureRunning,
    /** Detaches from the server. The last client stops it. */
    stop: () => withLock(stateDir, () => closeSession(server, session.client), AbortSignal.timeout(60_000)),
  };
}

/**
 * Returns the directory in which the embedded database would be created; null if it exists already. Creates nothing.
 * @throws ConfigurationError or DatabaseError if it cannot be created
 */
export async function findMissingDatabase(options: StateDirOptions): Promise<string | null> {
  findBinaries();
  const stateDir = embeddedStateDir(options);
  try {
    if (existsSync(join(stateDir, "postgres"))) return null;
    tryCreatingIn(stateDir);
    return stateDir;
  } catch (error) {
    throw asKnownError(error, stateDir);
  }
}

/** Adds the consequence and the remedy to a system error. Other errors are returned unchanged. */
function asKnownError(error: unknown, stateDir: string): unknown {
  const reason = toError(error).message;
  if (/no space left on device|disk quota exceeded/i.test(reason))
    return new DatabaseError(`no space for the embedded database in ${stateDir}`, {
      hint: `free some, or set SIMCAT_STATE_DIR to a directory on a larger disk. ${reason}`,
      cause: error,
    });
  if (error instanceof Error && "syscall" in error && String(error.syscall).startsWith("spawn"))
    return new ConfigurationError(`the embedded Postgres does not run on this machine (${reason})`, {
      hint: "set DATABASE_URL to a Postgres 14 to 18",
      cause: error,
    });
  if (!hasErrorCode(error, ...UNUSABLE_DIRECTORY)) return error;
  return new ConfigurationError(`the embedded database cannot be stored in ${stateDir} (${reason})`, {
    hint: "set SIMCAT_STATE_DIR to a writable directory",
    cause: error,
  });
}

const UNUSABLE_DIRECTORY = "EACCES EPERM EROFS ENOENT ENOTDIR EEXIST ENOTEMPTY ENAMETOOLONG ELOOP".split(" ");

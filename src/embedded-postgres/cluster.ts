import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { chown, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ConfigurationError, DatabaseError, hasErrorCode } from "../errors.ts";
import { type Launcher, lastLines, launch } from "./launch.ts";
import { removeDirectory } from "./state-dir.ts";

/** The paths of a cluster. All of them lie below one directory, so that a new cluster appears with one rename. */
export interface Cluster {
  readonly directory: string;
  readonly data: string;
  /** The password of the role `simcat`, mode 0600. */
  readonly password: string;
  /** The output of Postgres since its last start. */
  readonly log: string;
  /** The port of the last start. It is used again, so that stored URLs stay valid. */
  readonly port: string;
  /** One registration for each client process. */
  readonly clients: string;
  /** Exists while the watchdog is about to stop the server. */
  readonly closing: string;
}

export function clusterIn(stateDir: string, name = "postgres"): Cluster {
  const directory = join(stateDir, name);
  return {
    directory,
    data: join(directory, "data"),
    password: join(directory, "password"),
    log: join(directory, "postgres.log"),
    port: join(directory, "port"),
    clients: join(directory, "users"),
    closing: join(directory, "closing"),
  };
}

/**
 * Returns whether the cluster exists.
 * @throws ConfigurationError if another major version of Postgres created it
 */
export async function hasCluster(cluster: Cluster, major: string): Promise<boolean> {
  const found = await readFile(join(cluster.data, "PG_VERSION"), "utf8").catch((error: unknown) => {
    if (hasErrorCode(error, "ENOENT")) return null;
    throw error;
  });
  if (found === null) return false;
  if (found.trim() === major) return true;
  throw new ConfigurationError(
    `${cluster.data} was created by Postgres ${found.trim()}, but this simcat contains Postgres ${major}`,
    {
      hint: "set SIMCAT_STATE_DIR to another directory and run simcat backfill, or set DATABASE_URL to a Postgres that contains that data",
    },
  );
}

interface NewCluster {
  readonly stateDir: string;
  /** Whether initdb flushes its files to disk. A disposable cluster does not need that. */
  readonly durable: boolean;
}

/** Creates the cluster under a temporary name and renames it, so that an interrupted initdb leaves no partial cluster. */
export async function createCluster(
  { stateDir, durable }: NewCluster,
  launcher: Launcher,
  signal: AbortSignal,
): Promise<void> {
  assertUserHasName(launcher);
  await removeDrafts(stateDir);
  const draft = clusterIn(stateDir, `draft-${randomUUID()}`);
  const { uid, gid } = launcher.user ?? { uid: -1, gid: -1 }; // -1 keeps the owner.
  try {
    await mkdir(draft.clients, { recursive: true, mode: 0o700 });
    await writeFile(draft.password, randomBytes(24).toString("base64url"), { mode: 0o600 });
    for (const path of [draft.directory, draft.clients, draft.password]) await chown(path, uid, gid);
    await runInitdb(draft, durable, launcher, signal);
    await rename(draft.directory, clusterIn(stateDir).directory);
  } catch (error) {
    await removeDirectory(draft.directory);
    throw error;
  }
}

/** Removes the drafts of processes that were killed during initdb. */
async function removeDrafts(stateDir: string): Promise<void> {
  for (const name of await readdir(stateDir))
    if (name.startsWith("draft-")) await removeDirectory(join(stateDir, name));
}

/** initdb looks up the name of its user and fails without one, for example in a container with an arbitrary user id. */
function assertUserHasName({ user }: Launcher): void {
  if (process.platform === "win32" || user !== null) return;
  try {
    userInfo();
  } catch {
    throw new ConfigurationError(
      `the embedded Postgres cannot be created, because user id ${process.getuid?.()} has no passwd entry`,
      { hint: "set DATABASE_URL to a Postgres 14 to 18, or run simcat as a user of this machine" },
    );
  }
}

async function runInitdb(draft: Cluster, durable: boolean, launcher: Launcher, signal: AbortSignal): Promise<void> {
  const args = (directory: string) => {
    const inside = clusterIn(directory, ".");
    const encoding = ["-E", "UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
    const account = ["-U", "simcat", "-A", "scram-sha-256", `--pwfile=${inside.password}`];
    return ["-D", inside.data, ...encoding, ...account, "--no-instructions", ...(durable ? [] : ["--no-sync"])];
  };
  const child = launch(launcher, { program: "initdb", directory: draft.directory, args, output: "pipe" });
  const stop = () => child.kill("SIGTERM");
  signal.addEventListener("abort", stop);
  try {
    const [output, errors, [code]] = await Promise.all([
      child.stdout === null ? "" : text(child.stdout),
      child.stderr === null ? "" : text(child.stderr),
      once(child, "close"),
    ]);
    signal.throwIfAborted();
    if (code === 0) return;
    throw new DatabaseError(
      `the embedded Postgres could not create its database in ${draft.directory}. Output of initdb:\n${lastLines(output + errors)}`,
    );
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statSync } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { poll } from "../async.ts";
import { ConfigurationError, hasErrorCode } from "../errors.ts";

export interface StateDirOptions {
  /** `SIMCAT_STATE_DIR`; null for the default of the platform. */
  readonly stateDir: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The directory of the embedded database. Creates nothing. */
export function embeddedStateDir({ stateDir, environment }: StateDirOptions): string {
  if (stateDir !== null) return resolve(stateDir);
  const preferred = platformDir(environment);
  return preferred !== null && isWritable(preferred) ? preferred : temporaryDir(environment);
}

/**
 * Creates the directory, private to the user. Root's can be passed through, because root's server runs as another user.
 * @throws ConfigurationError if the default directory belongs to another user
 */
export async function createStateDir(options: StateDirOptions): Promise<string> {
  const stateDir = embeddedStateDir(options);
  const uid = process.getuid?.();
  await makeDirectory(stateDir, uid === 0 ? 0o711 : 0o700);
  if (uid !== undefined && options.stateDir === null) {
    // In a shared temporary directory another user may have created it first, and would own our database.
    const { uid: owner } = await stat(stateDir);
    if (owner !== uid)
      throw new ConfigurationError(`${stateDir} belongs to user ${owner}`, {
        hint: "set SIMCAT_STATE_DIR to your own directory",
      });
  }
  return stateDir;
}

/**
 * Creates a directory and its missing parents. Node's own `recursive` option never returns if a file system refuses a new
 * directory with ENOENT, as /proc does.
 */
async function makeDirectory(directory: string, mode: number): Promise<void> {
  const parent = dirname(directory);
  if (parent !== directory && !existsSync(parent)) await makeDirectory(parent, mode);
  try {
    await mkdir(directory, { mode });
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST") || !(await stat(directory)).isDirectory()) throw error;
  }
}

function platformDir(environment: StateDirOptions["environment"]): string | null {
  const { HOME: home, XDG_STATE_HOME: xdg, LOCALAPPDATA: local } = environment;
  if (process.platform === "win32") return local ? join(local, "simcat") : null;
  if (process.getuid?.() === 0) return "/var/lib/simcat";
  if (process.platform === "darwin") return home ? join(home, "Library/Application Support/simcat") : null;
  if (xdg && isAbsolute(xdg)) return join(xdg, "simcat"); // The XDG specification ignores relative ones.
  return home && isAbsolute(home) ? join(home, ".local/state/simcat") : null;
}

/** For users without a writable HOME, as in a container with an arbitrary user id. */
function temporaryDir(environment: StateDirOptions["environment"]): string {
  const base = environment.TMPDIR || environment.TEMP || "/tmp";
  return join(base, `simcat-${process.getuid?.() ?? "user"}`);
}

/** Returns whether the directory, or its nearest existing parent, is writable. */
export function isWritable(directory: string): boolean {
  const existing = nearestExisting(directory);
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
    return statSync(existing).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Creates a directory next to where it would be, and removes it, because permissions are not enough to know: /proc refuses
 * new directories, and so does a full disk.
 * @throws the system error of a directory that cannot be created
 */
export function tryCreatingIn(directory: string): void {
  rmdirSync(mkdtempSync(join(nearestExisting(directory), ".simcat-")));
}

function nearestExisting(directory: string): string {
  const parent = dirname(directory);
  return existsSync(directory) || parent === directory ? directory : nearestExisting(parent);
}

/** Removes a directory, trying for ten seconds, because an exiting process may still be writing to it. */
export async function removeDirectory(directory: string): Promise<void> {
  const remove = async () => {
    try {
      await rm(directory, { recursive: true, force: true });
      return true;
    } catch (error) {
      if (hasErrorCode(error, "ENOTEMPTY", "EBUSY", "EPERM")) return null;
      throw error;
    }
  };
  const removed = await poll(remove, 10_000, new AbortController().signal);
  if (!removed) await rm(directory, { recursive: true, force: true });
}

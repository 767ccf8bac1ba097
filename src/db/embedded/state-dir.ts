import { accessSync, constants, existsSync, statSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { ConfigurationError } from "../../errors.ts";
import { hasCode } from "./has-code.ts";

export interface StateDirOptions {
  /** `SIMCAT_STATE_DIR`; null for the platform's place. */
  readonly stateDir: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Where the embedded database lives or would live. Creates nothing. */
export function embeddedStateDir({ stateDir, environment }: StateDirOptions): string {
  if (stateDir !== null) return resolve(stateDir);
  const preferred = platformDir(environment);
  return preferred !== null && canBeWritten(preferred) ? preferred : temporaryDir(environment);
}

/** Creates it. Root's can be passed through, since the server runs as another user; everyone else's is private. */
export async function createStateDir(options: StateDirOptions): Promise<string> {
  const stateDir = embeddedStateDir(options);
  const uid = process.getuid?.();
  await makeDirectory(stateDir, uid === 0 ? 0o711 : 0o700);
  if (uid !== undefined && options.stateDir === null) {
    // In a shared temporary directory somebody else may have been there first, and would own our database.
    const { uid: owner } = await stat(stateDir);
    if (owner !== uid)
      throw new ConfigurationError(`${stateDir} belongs to user ${owner}: set SIMCAT_STATE_DIR to one of your own`);
  }
  return stateDir;
}

/**
 * Creates a directory, and the ones above it that are missing. Node's own `recursive` option never returns where a file
 * system refuses a new directory with ENOENT, as /proc does.
 */
async function makeDirectory(directory: string, mode: number): Promise<void> {
  const parent = dirname(directory);
  if (parent !== directory && !existsSync(parent)) await makeDirectory(parent, mode);
  try {
    await mkdir(directory, { mode });
  } catch (error) {
    if (!hasCode(error, "EEXIST") || !(await stat(directory)).isDirectory()) throw error;
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

/** No HOME, or one that is read-only or not there, as in a container with an arbitrary user. */
function temporaryDir(environment: StateDirOptions["environment"]): string {
  const base = environment.TMPDIR || environment.TEMP || "/tmp";
  return join(base, `simcat-${process.getuid?.() ?? "user"}`);
}

/** Whether the directory, or the nearest one above it that exists, can be written. */
export function canBeWritten(directory: string): boolean {
  let existing = directory;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
    return statSync(existing).isDirectory();
  } catch {
    return false;
  }
}

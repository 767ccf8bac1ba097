import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { accessSync, constants, existsSync, mkdtempSync, rmdirSync } from "node:fs";
import { link, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createConnection, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { sleep } from "../async.ts";
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
  try {
    if (preferred !== null) {
      accessSync(nearestExisting(preferred), constants.W_OK | constants.X_OK);
      return preferred;
    }
  } catch {
    // For users without a writable HOME, as for those without any.
  }
  return join(environment.TMPDIR || environment.TEMP || "/tmp", `simcat-${process.getuid?.() ?? "user"}`);
}

/**
 * Creates the directory, private to the user. Root's can be passed through, because root's server runs as another user.
 * @throws ConfigurationError if the default directory belongs to another user
 */
export async function createStateDir(options: StateDirOptions): Promise<string> {
  const stateDir = embeddedStateDir(options);
  const uid = process.getuid?.();
  if (!existsSync(stateDir)) {
    tryCreatingIn(stateDir); // Where /proc refuses a new directory with ENOENT, a recursive mkdir never returns.
    await mkdir(stateDir, { recursive: true, mode: uid === 0 ? 0o711 : 0o700 });
  }
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

function platformDir(environment: StateDirOptions["environment"]): string | null {
  const { HOME: home, XDG_STATE_HOME: xdg, LOCALAPPDATA: local } = environment;
  if (process.platform === "win32") return local ? join(local, "simcat") : null;
  if (process.getuid?.() === 0) return "/var/lib/simcat";
  if (process.platform === "darwin") return home ? join(home, "Library/Application Support/simcat") : null;
  if (xdg && isAbsolute(xdg)) return join(xdg, "simcat"); // The XDG specification ignores relative ones.
  return home && isAbsolute(home) ? join(home, ".local/state/simcat") : null;
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

/**
 * Runs `work` while no other process of this machine works in the directory. The lock is a listening local socket, which the
 * system closes when its owner dies, so it is never stale. Only macOS keeps a file.
 */
export async function withLock<T>(stateDir: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const prefix = { linux: "\0", win32: "\\\\.\\pipe\\" }[process.platform as string] ?? `${tmpdir()}/`;
  const path = `${prefix}simcat-${await readLockName(stateDir)}`;
  let lock = await tryToListen(path);
  for (; lock === null; lock = await tryToListen(path)) await sleep(50, signal);
  try {
    return await work();
  } finally {
    lock.close();
  }
}

/** The directory's own random name: a known one could be occupied by another user of the machine. */
async function readLockName(stateDir: string): Promise<string> {
  const file = join(stateDir, "lock-name");
  if (!existsSync(file)) {
    const draft = `${file}-${randomUUID()}`;
    await writeFile(draft, randomUUID(), { mode: 0o600 });
    await link(draft, file).catch(() => {}); // Another process was faster.
    await rm(draft);
  }
  return readFile(file, "utf8");
}

async function tryToListen(path: string): Promise<Server | null> {
  const server = createServer((visitor) => visitor.destroy());
  try {
    await once(server.listen(path), "listening");
    return server;
  } catch (error) {
    if (!hasErrorCode(error, "EADDRINUSE")) throw error;
    if (process.platform === "darwin")
      await once(createConnection(path), "connect").catch(() => rm(path, { force: true }));
    return null;
  }
}

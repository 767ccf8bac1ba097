import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { poll } from "../async.ts";
import { hasErrorCode } from "../errors.ts";
import { processIdentity } from "./processes.ts";

/**
 * Registers this process as a client of what lies in the directory.
 * A registration is an empty file `PID.IDENTITY.RANDOM`. The identity distinguishes a live client from a later process
 * with the same id.
 * @returns the file's path; remove it to unregister
 */
export async function registerClient(directory: string): Promise<string> {
  const file = join(directory, `${process.pid}.${processIdentity(process.pid)}.${randomUUID()}`);
  await writeFile(file, "", { mode: 0o600 });
  return file;
}

/** The registrations of live processes. Removes those of dead ones. */
export async function liveRegistrations(directory: string): Promise<string[]> {
  const live: string[] = [];
  for (const name of await registrationsIn(directory)) {
    const [pid, identity] = name.split(".");
    if (processIdentity(Number(pid)) === identity) live.push(name);
    else await rm(join(directory, name), { force: true });
  }
  return live;
}

async function registrationsIn(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((name) => /^\d+\./.test(name));
  } catch (error) {
    if (hasErrorCode(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}

/**
 * Runs `work` while no other process works in the directory. The lock is a directory that holds its owner's registration
 * and is renamed into place. The rename replaces an empty directory and fails on a full one. To break the lock of a dead
 * owner, its registration is removed, which never affects the lock of a faster process.
 */
export async function withLock<T>(directory: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const lock = join(directory, "lock");
  const draft = await mkdtemp(join(directory, `lock-${process.pid}-`));
  try {
    const registration = join(lock, basename(await registerClient(draft)));
    await poll(async () => ((await tryToLock(draft, lock)) ? true : null), Number.POSITIVE_INFINITY, signal);
    try {
      await removeDeadDrafts(directory);
      return await work();
    } finally {
      await rm(registration, { force: true });
      await rmdir(lock).catch(() => {}); // Another process may hold it already.
    }
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function tryToLock(draft: string, lock: string): Promise<boolean> {
  try {
    await rename(draft, lock);
    return true;
  } catch (error) {
    if (!hasErrorCode(error, "ENOTEMPTY", "EEXIST", "EPERM", "EACCES")) throw error;
    // Windows cannot rename onto a directory, not even an empty one.
    if ((await liveRegistrations(lock)).length === 0) await rmdir(lock).catch(() => {});
    return false;
  }
}

async function removeDeadDrafts(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const pid = /^lock-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && processIdentity(Number(pid)) === null)
      await rm(join(directory, name), { recursive: true, force: true });
  }
}

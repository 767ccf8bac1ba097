import { mkdtemp, readdir, rename, rm, rmdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { liveClaims, writeClaim } from "./claims.ts";
import { hasCode } from "./has-code.ts";
import { poll } from "./poll.ts";
import { processIdentity } from "./processes.ts";

/**
 * Lets one process at a time work in a directory. The lock is a directory with its owner's claim in it, renamed into
 * place: that replaces an empty directory and fails on a full one, so a dead owner's lock is broken by removing its
 * claim, which never hits the lock of somebody who was quicker.
 */
export async function withLock<T>(directory: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const lock = join(directory, "lock");
  const draft = await mkdtemp(join(directory, `lock-${process.pid}-`));
  try {
    const claim = join(lock, basename(await writeClaim(draft)));
    await poll(async () => ((await take(draft, lock)) ? true : null), Number.POSITIVE_INFINITY, signal);
    try {
      await removeDeadDrafts(directory);
      return await work();
    } finally {
      await rm(claim, { force: true });
      await rmdir(lock).catch(() => {}); // Somebody else may have it already.
    }
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function take(draft: string, lock: string): Promise<boolean> {
  try {
    await rename(draft, lock);
    return true;
  } catch (error) {
    if (!hasCode(error, "ENOTEMPTY", "EEXIST", "EPERM", "EACCES")) throw error;
    if ((await liveClaims(lock)).length === 0) await rmdir(lock).catch(() => {}); // Windows replaces no directory.
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

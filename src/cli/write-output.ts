import { randomUUID } from "node:crypto";
import { constants, fstatSync, type Stats } from "node:fs";
import * as fs from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { sleep } from "../async.ts";
import { hasErrorCode } from "../errors.ts";
import { FULL_PIPE_PAUSE_MS, writeNow } from "./standard-stream.ts";

/**
 * Writes to the file at a path. A regular file is replaced atomically and keeps its mode and owner; a device, a pipe or
 * standard output is written to.
 * @returns true if the bytes were written to standard output
 */
export async function writeOutput(path: string, bytes: Buffer, signal: AbortSignal): Promise<boolean> {
  const found = await fs.stat(path).catch((error: unknown) => {
    if (hasErrorCode(error, "ENOENT")) return null;
    throw error;
  });
  // Not opened by a path such as /dev/stdout: a socket could not be opened, and a file would be replaced.
  const standard = found?.isCharacterDevice() ? undefined : [1, 2].find((descriptor) => isSame(descriptor, found));
  if (standard !== undefined) await writeAll(standard, bytes, signal);
  else if (found === null || found.isFile()) await replaceFile(await followLinks(path), bytes, found);
  else await writeInto(path, bytes, found, signal);
  return standard === 1;
}

function isSame(descriptor: number, found: Stats | null): boolean {
  try {
    const own = fstatSync(descriptor);
    return own.dev === found?.dev && own.ino === found.ino;
  } catch {
    // The caller closed it.
    return false;
  }
}

/** Resolves all links. The file may not exist yet, even if a link leads to it. */
async function followLinks(path: string): Promise<string> {
  const directory = await fs.realpath(dirname(path));
  const link = await fs.readlink(path).catch((error: unknown) => {
    if (hasErrorCode(error, "EINVAL", "ENOENT", "UNKNOWN")) return null;
    throw error;
  });
  return link === null ? join(directory, basename(path)) : followLinks(resolve(directory, link));
}

async function replaceFile(file: string, bytes: Buffer, found: Stats | null): Promise<void> {
  if (found !== null) await fs.access(file, constants.W_OK);
  const temporary = join(dirname(file), `.simcat-${randomUUID()}.tmp`);
  try {
    await fs.writeFile(temporary, bytes, { flag: "wx", mode: found === null ? 0o644 : 0o600, flush: true });
    if (found !== null) {
      // Only root may change the owner of a file.
      await fs.chown(temporary, found.uid, found.gid).catch(() => {});
      await fs.chmod(temporary, found.mode & 0o7777);
    }
    await fs.rename(temporary, file);
  } catch (error) {
    await fs.rm(temporary, { force: true }).catch(() => {});
    // The directory is read-only, or the file is a mount: only its content can be replaced.
    if (found === null || !hasErrorCode(error, "EACCES", "EPERM", "EROFS", "EBUSY")) throw error;
    await fs.writeFile(file, bytes, { flush: true });
  }
}

/** Waits for the reader of a pipe, as a shell does, but by polling, because a blocking `open` cannot be interrupted. */
async function writeInto(path: string, bytes: Buffer, found: Stats, signal: AbortSignal): Promise<void> {
  if (found.isDirectory()) throw new Error("it is a directory");
  if (!found.isCharacterDevice() && !found.isFIFO()) throw new Error("it is neither a file nor a pipe");
  let handle: fs.FileHandle | null = null;
  while (handle === null) {
    handle = await fs
      .open(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
      .catch((error: unknown) => {
        if (!found.isFIFO() || !hasErrorCode(error, "ENXIO")) throw error;
        return null;
      });
    if (handle === null) await sleep(FULL_PIPE_PAUSE_MS, signal);
  }
  await writeAll(handle.fd, bytes, signal).finally(() => handle.close());
}

async function writeAll(descriptor: number, bytes: Buffer, signal: AbortSignal): Promise<void> {
  let remaining = writeNow(descriptor, bytes);
  while (remaining.length > 0) {
    await sleep(FULL_PIPE_PAUSE_MS, signal);
    remaining = writeNow(descriptor, remaining);
  }
}

import { randomUUID } from "node:crypto";
import { constants, fstatSync, type Stats, writeSync } from "node:fs";
import { access, type FileHandle, open, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { sleep } from "../async.ts";
import { hasErrorCode } from "../errors.ts";

/**
 * Writes to the file at a path. A regular file is replaced atomically and keeps its mode and owner; a device, a pipe or
 * standard output is written to.
 * @returns true if the bytes were written to standard output
 */
export async function writeOutput(path: string, bytes: Buffer, signal: AbortSignal): Promise<boolean> {
  const found = await statOrNull(path);
  const descriptor =
    found === null || found.isCharacterDevice() ? undefined : STANDARD.find((standard) => isSame(standard, found));
  if (descriptor !== undefined) await writeAll(descriptor, bytes, signal);
  else if (found === null || found.isFile()) await replaceFile(await followLinks(path), bytes, found);
  else await writeInto(path, bytes, found, signal);
  return descriptor === STDOUT;
}

const STDOUT = 1;
/** Not opened by a path such as /dev/stdout: a socket could not be opened, and a file would be replaced. */
const STANDARD = [STDOUT, 2];

function isSame(descriptor: number, { dev, ino }: Stats): boolean {
  try {
    const own = fstatSync(descriptor);
    return own.dev === dev && own.ino === ino;
  } catch {
    // The caller closed it.
    return false;
  }
}

async function statOrNull(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return null;
    throw error;
  }
}

/** Resolves all links. The file may not exist yet, even if a link leads to it. */
async function followLinks(path: string): Promise<string> {
  const directory = await realpath(dirname(path));
  const link = await readlink(path).catch((error: unknown) => {
    if (hasErrorCode(error, "EINVAL", "ENOENT", "UNKNOWN")) return null;
    throw error;
  });
  return link === null ? join(directory, basename(path)) : followLinks(resolve(directory, link));
}

async function replaceFile(file: string, bytes: Buffer, found: Stats | null): Promise<void> {
  if (found !== null) await access(file, constants.W_OK);
  const temporary = join(dirname(file), `.simcat-${randomUUID()}.tmp`);
  try {
    await withFile(temporary, "wx", found === null ? 0o644 : 0o600, async (handle) => {
      await handle.writeFile(bytes);
      if (found !== null) await copyAccess(handle, found);
      await handle.sync();
    });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    // The directory is read-only, or the file is a mount: only its content can be replaced.
    if (found === null || !hasErrorCode(error, "EACCES", "EPERM", "EROFS", "EBUSY")) throw error;
    await withFile(file, "r+", 0o600, async (handle) => {
      await handle.truncate();
      await handle.writeFile(bytes);
      await handle.sync();
    });
  }
}

async function copyAccess(handle: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  await handle.chown(uid, gid).catch((error: unknown) => {
    // Only root may change the owner of a file.
    if (!hasErrorCode(error, "EPERM")) throw error;
  });
  await handle.chmod(mode & 0o7777);
}

async function writeInto(path: string, bytes: Buffer, found: Stats, signal: AbortSignal): Promise<void> {
  if (found.isDirectory()) throw new Error("it is a directory");
  if (found.isBlockDevice()) throw new Error("it is a block device");
  if (found.isSocket()) throw new Error("it is a socket");
  const handle = await openForWriting(path, found.isFIFO(), signal);
  try {
    await writeAll(handle.fd, bytes, signal);
  } finally {
    await handle.close();
  }
}

/** The pause between two attempts to open a pipe without a reader, or to write to a full one. */
const PIPE_PAUSE_MS = 20;

/** Waits for the reader of a pipe, as a shell does, but by polling, because a blocking `open` cannot be interrupted. */
async function openForWriting(path: string, isPipe: boolean, signal: AbortSignal): Promise<FileHandle> {
  for (;;) {
    try {
      return await open(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch (error) {
      if (!isPipe || !hasErrorCode(error, "ENXIO")) throw error;
      await sleep(PIPE_PAUSE_MS, signal);
    }
  }
}

async function writeAll(descriptor: number, bytes: Buffer, signal: AbortSignal): Promise<void> {
  for (let remaining = bytes; remaining.length > 0; ) {
    try {
      remaining = remaining.subarray(writeSync(descriptor, remaining));
    } catch (error) {
      if (!hasErrorCode(error, "EAGAIN")) throw error;
      await sleep(PIPE_PAUSE_MS, signal);
    }
  }
}

async function withFile(
  path: string,
  flags: string,
  mode: number,
  work: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const handle = await open(path, flags, mode);
  try {
    await work(handle);
  } finally {
    await handle.close();
  }
}

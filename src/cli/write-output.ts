import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { sleep } from "../async.ts";
import { hasErrorCode } from "../errors.ts";
import { FULL_PIPE_PAUSE_MS, writeNow } from "./standard-stream.ts";

/** An existing file is replaced atomically and keeps its mode; a link to it stays. A device or a pipe is written to. */
export async function writeOutput(path: string, bytes: Buffer, signal: AbortSignal): Promise<void> {
  const found = await fs.stat(path).catch((error: unknown) => {
    if (hasErrorCode(error, "ENOENT")) return null;
    throw error;
  });
  if (found?.isFile()) {
    await fs.access(path, constants.W_OK);
    return replaceFile(await fs.realpath(path), bytes, found.mode);
  }
  // A pipe that nothing reads is an error instead of a wait that cannot be interrupted.
  const { O_WRONLY, O_CREAT, O_NONBLOCK, O_NOCTTY } = constants;
  const handle = await fs.open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY, 0o644);
  try {
    let remaining = writeNow(handle.fd, bytes);
    for (; remaining.length > 0; remaining = writeNow(handle.fd, remaining)) await sleep(FULL_PIPE_PAUSE_MS, signal);
  } finally {
    await handle.close();
  }
}

/** Replaces a file atomically, or creates it. */
export async function replaceFile(file: string, bytes: Buffer, mode: number): Promise<void> {
  const temporary = join(dirname(file), `.simcat-${randomUUID()}.tmp`);
  try {
    await fs.writeFile(temporary, bytes, { flag: "wx", mode: 0o600, flush: true });
    await fs.chmod(temporary, mode & 0o7777);
    await fs.rename(temporary, file);
  } catch (error) {
    await fs.rm(temporary, { force: true });
    throw error;
  }
}

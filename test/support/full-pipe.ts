import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { hasErrorCode } from "../../src/errors.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const FILLING = "\0";

/** A pipe that is full from the start. */
export function createFullPipe() {
  const path = join(temporaryDirectory(), "pipe");
  execFileSync("mkfifo", [path]);
  const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(descriptor));
  const page = Buffer.alloc(4096, FILLING);
  untilRefused(() => writeSync(descriptor, page));
  return {
    path,
    /** Returns what was written to the pipe after it was filled, and makes room for more. */
    read(): string {
      const chunks: Buffer[] = [];
      untilRefused(() => {
        const chunk = Buffer.alloc(65_536);
        chunks.push(chunk.subarray(0, readSync(descriptor, chunk)));
      });
      return Buffer.concat(chunks).toString().replaceAll(FILLING, "");
    },
  };
}

function untilRefused(work: () => void): void {
  try {
    for (;;) work();
  } catch (error) {
    if (!hasErrorCode(error, "EAGAIN")) throw error;
  }
}

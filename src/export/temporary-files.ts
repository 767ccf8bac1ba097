import { randomUUID } from "node:crypto";
import { readdirSync, readlinkSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { hasErrorCode } from "../errors.ts";

/** A new name, with the process that writes the file. */
export function temporaryName(): string {
  return `.simcat-${process.pid}-${randomUUID()}-${machine()}.tmp`;
}

/** Removes the files of exports that were killed. Those of other machines stay, because their processes cannot be seen. */
export function removeAbandonedFiles(directory: string): void {
  const suffix = `-${machine()}.tmp`;
  for (const name of readdirSync(directory)) {
    const pid = /^\.simcat-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || !name.endsWith(suffix) || isRunning(Number(pid))) continue;
    rmSync(join(directory, name), { force: true });
  }
}

/** Where a process id is unique: on Linux, containers with the same host name may have ids of their own. */
function machine(): string {
  try {
    return `${hostname()}${readlinkSync("/proc/self/ns/pid").replaceAll(/\D/g, "")}`;
  } catch {
    // Not Linux, or /proc is not mounted.
    return hostname();
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !hasErrorCode(error, "ESRCH");
  }
}

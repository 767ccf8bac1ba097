import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileErrorReason, hasErrorCode, UsageError } from "../errors.ts";

export type ExportFiles = ReturnType<typeof createExportFiles>;

/**
 * The files of one export. Until all are complete they are in a temporary directory, so that a failed export replaces nothing.
 * They are written synchronously, so that rows arrive no faster than they are written. All functions throw a UsageError if the
 * directory cannot be written to.
 */
export function createExportFiles(directory: string) {
  const temporary = join(directory, `.simcat-${process.pid}-${randomUUID()}-${machine()}.tmp`);
  const names: string[] = [];
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw new UsageError(`the export cannot be written to ${directory}: ${fileErrorReason(error)}`, {
        hint: "choose another directory with --out",
        cause: error,
      });
    }
  };
  return {
    /** Creates a file, passes its writer to `work`, and writes it to the disk. Returns its size in bytes. */
    async write(name: string, work: (write: (bytes: Uint8Array) => void) => Promise<void>): Promise<number> {
      const descriptor = attempt(() => {
        fs.mkdirSync(temporary, { recursive: true });
        if (names.length === 0) removeAbandoned(directory);
        return fs.openSync(join(temporary, name), "wx", 0o644);
      });
      names.push(name);
      let size = 0;
      try {
        await work((bytes) => {
          for (let at = 0; at < bytes.length; ) at += attempt(() => fs.writeSync(descriptor, bytes, at));
          size += bytes.length;
        });
        attempt(() => fs.fsyncSync(descriptor));
      } finally {
        fs.closeSync(descriptor);
      }
      return size;
    },
    /** Gives all files their names. The last one is removed first and named last, so it proves that the others belong together. */
    publish() {
      attempt(() => {
        fs.rmSync(join(directory, names.at(-1) ?? ""), { force: true });
        for (const name of names) fs.renameSync(join(temporary, name), join(directory, name));
      });
    },
    /** Removes all files that are not published. */
    discard() {
      names.length = 0;
      if (fs.existsSync(temporary)) fs.rmSync(temporary, { recursive: true, force: true });
    },
  };
}

/** Removes the files of exports that were killed. Those of other machines stay, because their processes cannot be seen. */
function removeAbandoned(directory: string): void {
  for (const name of fs.readdirSync(directory)) {
    const pid = /^\.simcat-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || !name.endsWith(`-${machine()}.tmp`) || isRunning(Number(pid))) continue;
    fs.rmSync(join(directory, name), { recursive: true, force: true });
  }
}

/** Where a process id is unique: on Linux, containers with the same host name may have ids of their own. */
function machine(): string {
  try {
    return `${hostname()}${fs.readlinkSync("/proc/self/ns/pid").replaceAll(/\D/g, "")}`;
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

import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { fileErrorReason, UsageError } from "../errors.ts";
import { DAY_MS } from "../units.ts";

export type ExportFiles = ReturnType<typeof createExportFiles>;

/**
 * The files of one export. Until all are complete they are in a temporary directory, so that a failed export replaces nothing.
 * They are written synchronously, so that rows arrive no faster than they are written. All functions throw a UsageError if the
 * directory cannot be written to.
 */
export function createExportFiles(directory: string) {
  const temporary = join(directory, `.simcat-${randomUUID()}.tmp`);
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
      attempt(() => createDirectory(temporary));
      const descriptor = attempt(() => fs.openSync(join(temporary, name), "wx", 0o644));
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
        removeAbandoned(directory);
      });
    },
    /** Removes all files that are not published. */
    discard() {
      names.length = 0;
      if (fs.existsSync(temporary)) fs.rmSync(temporary, { recursive: true, force: true });
    },
  };
}

/** A recursive `mkdirSync` never returns where /proc refuses a directory with ENOENT. */
function createDirectory(path: string): void {
  if (fs.existsSync(path)) return;
  createDirectory(dirname(path));
  try {
    fs.mkdirSync(path);
  } catch (error) {
    // Another export may have created it.
    if (!fs.existsSync(path)) throw error;
  }
}

/** Removes temporary directories that are older than a day: those of exports that were killed. */
function removeAbandoned(directory: string): void {
  for (const name of fs.readdirSync(directory)) {
    if (!/^\.simcat-[\da-f-]{36}\.tmp$/.test(name)) continue;
    const path = join(directory, name);
    // Another export may have removed it.
    const found = fs.statSync(path, { throwIfNoEntry: false });
    if (found && Date.now() - found.mtimeMs > DAY_MS) fs.rmSync(path, { recursive: true, force: true });
  }
}

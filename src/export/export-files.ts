import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { toError, UsageError } from "../errors.ts";
import { removeAbandonedFiles, temporaryName } from "./temporary-files.ts";

/** The files of one export. Until all are complete they have temporary names, so that a failed export replaces nothing. */
export interface ExportFiles {
  /** Opens a file that will have this name. The first one creates the directory, and removes the files of killed exports. */
  open(name: string): ExportFile;
  /** Gives all files their names. The last one is removed first and named last, so it proves that the others belong together. */
  publish(): void;
  /** Removes all files that are not published. */
  discard(): void;
}

interface ExportFile {
  readonly name: string;
  /** Written so far. */
  readonly bytes: number;
  write(bytes: Uint8Array): void;
  /** Writes it to the disk and closes it. */
  end(): void;
}

/**
 * Files are written synchronously, so that rows arrive no faster than they are written. All functions throw a UsageError if
 * the directory cannot be written to.
 */
export function createExportFiles(directory: string): ExportFiles {
  const pending: { readonly name: string; readonly path: string; readonly close: () => void }[] = [];
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw new UsageError(`the export cannot be written to ${directory}: ${toError(error).message}`, {
        hint: "choose another directory with --out",
        cause: error,
      });
    }
  };
  return {
    open(name) {
      if (pending.length === 0) {
        attempt(() => {
          mkdirSync(directory, { recursive: true });
          removeAbandonedFiles(directory);
        });
      }
      const path = join(directory, temporaryName());
      const descriptor = attempt(() => openSync(path, "wx", 0o644));
      let bytes = 0;
      let isOpen = true;
      const close = () => {
        if (isOpen) closeSync(descriptor);
        isOpen = false;
      };
      pending.push({ name, path, close });
      return {
        name,
        get bytes() {
          return bytes;
        },
        write(chunk) {
          attempt(() => writeAll(descriptor, chunk));
          bytes += chunk.length;
        },
        end() {
          attempt(() => {
            fsyncSync(descriptor);
            close();
          });
        },
      };
    },
    publish() {
      attempt(() => {
        const last = pending.at(-1);
        if (last !== undefined) rmSync(join(directory, last.name), { force: true });
        for (let file = pending[0]; file !== undefined; file = pending[0]) {
          renameSync(file.path, join(directory, file.name));
          pending.shift();
        }
      });
    },
    discard() {
      for (const { path, close } of pending.splice(0)) {
        close();
        rmSync(path, { force: true });
      }
    },
  };
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let remaining = bytes; remaining.length > 0; ) {
    remaining = remaining.subarray(writeSync(descriptor, remaining));
  }
}

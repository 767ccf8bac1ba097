import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "./has-code.ts";
import { processIdentity, programName } from "./processes.ts";

/** What a running server tells in its `postmaster.pid`. */
export interface Postmaster {
  readonly pid: number;
  /** Null while it is not known yet. */
  readonly port: number | null;
  readonly ready: boolean;
}

/** The server that runs on a data directory; null when none does. */
export async function readPostmaster(data: string): Promise<Postmaster | null> {
  const lines = await readLines(data);
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0 || !isPostgres(pid)) return null;
  return { pid, port: Number(lines[3]) || null, ready: lines[7]?.trim() === "ready" };
}

/**
 * After a crash the file may name a zombie or a process that has nothing to do with Postgres, which then refuses to
 * start beside it. It disregards its parent, us, and still sees by the rest of the file whether backends of the
 * crashed one live on.
 */
export async function disownPostmaster(data: string): Promise<void> {
  const [pid, ...rest] = await readLines(data);
  if (pid === undefined || pid === "") return;
  await writeFile(join(data, "postmaster.pid"), [process.pid, ...rest].join("\n"));
}

function isPostgres(pid: number): boolean {
  return processIdentity(pid) !== null && (process.platform === "win32" || programName(pid).includes("postgres"));
}

async function readLines(data: string): Promise<string[]> {
  try {
    return (await readFile(join(data, "postmaster.pid"), "utf8")).split("\n");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

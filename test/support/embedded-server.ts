import { existsSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type EmbeddedPostgres, openEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";

const MEMORY = "/dev/shm";
const MIN_FREE_BYTES = 2 ** 31;

/**
 * Where test servers with many databases have their directories: in memory, if it has space. ext4 does not use the inode of a
 * deleted file for five seconds, and looks past it for each new file. Clones and their removal spent most of Postgres' time so.
 */
export function serverHome(): string {
  const mounts = existsSync("/proc/mounts") ? readFileSync("/proc/mounts", "utf8") : "";
  // The server's programs may be copied into its directory.
  if (!/^\S+ \/dev\/shm tmpfs (?!\S*noexec)/m.test(mounts)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > MIN_FREE_BYTES ? MEMORY : tmpdir();
}

/** Opens an embedded Postgres for tests: its role simcat is a superuser, so that they can create roles and databases. */
export function openTestPostgres(
  stateDir: string,
  settings: Readonly<Record<string, string>> = { fsync: "off" },
): Promise<EmbeddedPostgres> {
  const options = { stateDir, environment: process.env, settings, superuser: true };
  return openEmbeddedPostgres(options, new AbortController().signal);
}

/** Sends a signal to the server on the data directory. */
export function signalServer(dataDirectory: string, signal: NodeJS.Signals): void {
  process.kill(Number.parseInt(readFileSync(join(dataDirectory, "postmaster.pid"), "utf8"), 10), signal);
}

/** As `pg_ctl stop -m immediate`: nothing is flushed and no client is notified. */
export async function crashServer(dataDirectory: string): Promise<void> {
  signalServer(dataDirectory, "SIGQUIT");
  while (existsSync(join(dataDirectory, "postmaster.pid"))) await sleep(5);
}

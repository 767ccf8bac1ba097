import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type EmbeddedPostgres, openEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";

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

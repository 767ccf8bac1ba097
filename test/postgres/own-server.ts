import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { onTestFinished, vi } from "vitest";
import { openEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { readPostmaster } from "../../src/embedded-postgres/postmaster.ts";
import { processIdentity } from "../../src/embedded-postgres/processes.ts";
import { removeDirectory } from "../../src/embedded-postgres/state-dir.ts";
import type { Query } from "../process/service-rows.ts";

/** A Postgres server of the test's own, which can be crashed, stopped and restarted. */
export interface OwnServer {
  readonly url: string;
  readonly dataDirectory: string;
  readonly query: Query;
  /** As `pg_ctl stop -m immediate`: nothing is flushed and no client is notified. */
  crash(): Promise<void>;
  /** On the same port; the server recovers by itself. */
  start(): Promise<void>;
}

const never = new AbortController().signal;

export async function startOwnServer(settings: Readonly<Record<string, string>> = {}): Promise<OwnServer> {
  const stateDir = await mkdtemp(join(tmpdir(), `simcat-own-${process.pid}-`));
  const open = () => openEmbeddedPostgres({ stateDir, environment: process.env, settings }, never);
  let server = await open();
  const { url, dataDirectory } = server;
  let pool = newPool(url);
  onTestFinished(async () => {
    await pool.end();
    await server.stop();
    await removeDirectory(stateDir);
  });
  return {
    url,
    dataDirectory,
    query: async <T>(sql: string, parameters: readonly unknown[] = []) =>
      (await pool.query(sql, [...parameters])).rows as T[],
    async crash() {
      const running = await readPostmaster(dataDirectory);
      if (running === null) throw new Error("the server does not run");
      process.kill(running.pid, "SIGQUIT");
      await vi.waitFor(
        () => {
          if (processIdentity(running.pid) !== null) throw new Error("the server still runs");
        },
        { timeout: 10_000, interval: 5 },
      );
    },
    async start() {
      await server.stop();
      server = await open();
      if (server.url !== url) throw new Error(`the server came back at another place than before`);
      await pool.end();
      pool = newPool(url);
    },
  };
}

function newPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on("error", () => {});
  return pool;
}

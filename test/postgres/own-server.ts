import pg from "pg";
import { onTestFinished } from "vitest";
import type { Query } from "../process/service-rows.ts";
import { crashServer, openTestPostgres } from "../support/embedded-server.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

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

export async function startOwnServer(settings: Readonly<Record<string, string>> = {}): Promise<OwnServer> {
  const stateDir = temporaryDirectory();
  const open = () => openTestPostgres(stateDir, settings);
  let server = await open();
  const { url, dataDirectory } = server;
  let pool = newPool(url);
  onTestFinished(async () => {
    await pool.end();
    await server.stop();
  });
  return {
    url,
    dataDirectory,
    query: async <T>(sql: string, parameters: readonly unknown[] = []) =>
      (await pool.query(sql, [...parameters])).rows as T[],
    crash: () => crashServer(dataDirectory),
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

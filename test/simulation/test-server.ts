import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { migrate } from "../../src/db/migrate.ts";
import type { EmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { crashServer, openTestPostgres, serverHome } from "../support/embedded-server.ts";
import { openControl } from "./database.ts";
import type { TestServer } from "./simulation.ts";

const never = new AbortController().signal;
/** Commits survive a crash of the server, though not a crash of the machine. */
const SETTINGS = { fsync: "off", full_page_writes: "off" };

/** A separate database: on the server of TEST_DATABASE_URL, else on an embedded server, which may be restarted. */
export async function openTestServer(): Promise<TestServer & { close(): Promise<void> }> {
  const given = process.env.TEST_DATABASE_URL;
  const stateDir = await mkdtemp(join(serverHome(), `simcat-simulation-${process.pid}-`));
  const open = () => openTestPostgres(stateDir, SETTINGS);
  const servers: EmbeddedPostgres[] = given ? [] : [await open()];
  const serverUrl = given ?? servers[0]?.url ?? "";
  const name = `simcat_simulation_${randomUUID().slice(0, 8)}`;
  await inDatabase(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate(url.href, never);
  const control = await openControl(url.href);
  const [server] = servers;
  const restart = async () => {
    if (server !== undefined) await crashServer(server.dataDirectory);
    servers.push(await open());
    await control.reconnect();
  };
  return {
    control,
    databaseUrl: url.href,
    restart: server === undefined ? null : restart,
    async close() {
      await control.end();
      await inDatabase(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
      for (const one of servers) await one.stop();
      await rm(stateDir, { recursive: true });
    },
  };
}

async function inDatabase(url: string, sql: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(sql);
  await admin.end();
}

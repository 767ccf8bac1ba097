import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { migrate } from "../../src/db/migrate.ts";
import { openTestPostgres, serverHome } from "../support/embedded-server.ts";
import { openControl } from "./database.ts";

const never = new AbortController().signal;

/** A separate database: on the server of TEST_DATABASE_URL, else on an embedded server. */
export async function openOwnDatabase() {
  const stateDir = await mkdtemp(join(serverHome(), `simcat-simulation-${process.pid}-`));
  const given = process.env.TEST_DATABASE_URL;
  const server = given ? null : await openTestPostgres(stateDir);
  const serverUrl = given ?? server?.url ?? "";
  const name = `simcat_simulation_${randomUUID().slice(0, 8)}`;
  await inDatabase(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate(url.href, never);
  const control = await openControl(url.href);
  return {
    control,
    async close() {
      await control.end();
      await inDatabase(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
      await server?.stop();
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

import { randomInt } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { migrate } from "../../src/db/migrate.ts";
import { openTestPostgres, serverHome, signalServer } from "./embedded-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    testDatabases: {
      /** URL of a database from which other databases are created. */
      readonly url: string;
      /** Holds the project's schema and no rows. */
      readonly template: string;
      /** Prefix of this run's database names. */
      readonly prefix: string;
    };
  }
}

interface TestServer {
  readonly what: string;
  readonly url: string;
  stop(): Promise<void>;
}

const never = new AbortController().signal;
const throwAway = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", max_connections: "200" };

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const server = givenServer() ?? (await containerServer()) ?? (await embeddedServer());
  process.stderr.write(`tests use ${server.what}\n`);
  const run = randomInt(1, 2 ** 31 - 1);
  const template = `simcat_template_${run}`;
  const admin = new pg.Client({ connectionString: server.url });
  admin.on("error", () => {}); // The server may stop first when a run is interrupted.
  try {
    await admin.connect();
    await dropAbandoned(admin);
    // Held for the whole run: marks its databases as in use.
    await admin.query("SELECT pg_advisory_lock($1)", [run]);
    await admin.query(`CREATE DATABASE ${template} TEMPLATE template0`);
    await migrate(withDatabase(server.url, template), never);
    // A template with a session cannot be cloned, so allow no connections.
    await admin.query(`ALTER DATABASE ${template} ALLOW_CONNECTIONS false`);
  } catch (error) {
    await admin.end();
    await server.stop();
    throw error;
  }
  project.provide("testDatabases", { url: server.url, template, prefix: `simcat_test_${run}_` });
  return async () => {
    await dropRun(admin, run);
    await admin.end();
    await server.stop();
  };
}

function givenServer(): TestServer | null {
  const url = process.env.TEST_DATABASE_URL;
  return url ? { what: "the Postgres of TEST_DATABASE_URL", url, stop: async () => {} } : null;
}

async function containerServer(): Promise<TestServer | null> {
  try {
    const { PostgreSqlContainer } = await import("@testcontainers/postgresql");
    const container = await new PostgreSqlContainer("postgres:18")
      .withCommand(["postgres", ...Object.entries(throwAway).flatMap(([name, value]) => ["-c", `${name}=${value}`])])
      .start();
    return {
      what: "Postgres 18 in a container",
      url: container.getConnectionUri(),
      stop: async () => void (await container.stop()),
    };
  } catch (error) {
    process.stderr.write(`no container: ${error instanceof Error ? error.message : error}\n`);
    return null;
  }
}

async function embeddedServer(): Promise<TestServer> {
  const home = serverHome();
  await removeAbandonedDirectories(home);
  const stateDir = await mkdtemp(join(home, `simcat-tests-${process.pid}-`));
  const server = await openTestPostgres(stateDir, throwAway);
  // An interrupted run exits without its teardown.
  const abandon = () => {
    try {
      signalServer(server.dataDirectory, "SIGQUIT");
      rmSync(stateDir, { recursive: true, force: true });
    } catch {
      // The directory is already removed or still in use: the next run removes the rest.
    }
  };
  process.on("exit", abandon);
  return {
    what: "the embedded Postgres 18",
    url: server.url,
    stop: async () => {
      await server.stop();
      process.off("exit", abandon);
      await rm(stateDir, { recursive: true });
    },
  };
}

/** Removes directories of killed runs: a server without its directory ends within a minute. */
async function removeAbandonedDirectories(home: string): Promise<void> {
  for (const name of readdirSync(home)) {
    const pid = /^simcat-tests-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(home, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Drops databases of killed runs: the lock of such a run is free. */
async function dropAbandoned(admin: pg.Client): Promise<void> {
  const found = await admin.query<{ run: string }>(
    "SELECT substring(datname FROM '^simcat_template_([0-9]+)$') AS run FROM pg_database WHERE datname ~ '^simcat_template_[0-9]+$'",
  );
  for (const { run } of found.rows) {
    const { rows } = await admin.query<{ free: boolean }>("SELECT pg_try_advisory_lock($1) AS free", [run]);
    if (rows[0]?.free === true) await dropRun(admin, Number(run));
  }
}

/** Drop the template last, because its existence shows that the others may exist. */
async function dropRun(admin: pg.Client, run: number): Promise<void> {
  const { rows } = await admin.query<{ name: string }>(
    "SELECT datname AS name FROM pg_database WHERE datname ~ $1 ORDER BY datname DESC",
    [`^simcat_(test_${run}_.*|template_${run})$`],
  );
  for (const { name } of rows) await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.query("SELECT pg_advisory_unlock($1)", [run]);
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

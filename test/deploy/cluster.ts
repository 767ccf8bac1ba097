import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { EmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { withClient } from "../support/database.ts";
import { openTestPostgres } from "../support/embedded-server.ts";

/** The script as psql sends it for a prefix. */
const rolesSql = (prefix: string) =>
  readFileSync(new URL("../../deploy/roles.sql", import.meta.url), "utf8").replace(
    /^\\if[\s\S]*?\\endif$/m,
    `SET simcat.prefix = '${prefix}';`,
  );
const PASSWORD = "a-password-for-tests";

/** A server of one's own: roles belong to a whole server, and other tests' databases share one. */
export function useCluster() {
  let server: EmbeddedPostgres;
  let stateDir: string;
  let databases = 0;
  beforeAll(async () => {
    stateDir = await mkdtemp(join(tmpdir(), `simcat-tests-${process.pid}-`));
    server = await openTestPostgres(stateDir, { fsync: "off", synchronous_commit: "off", full_page_writes: "off" });
  });
  afterAll(async () => {
    await server.stop();
    await rm(stateDir, { recursive: true });
  });

  const url = (database: string, role?: string) => {
    const address = new URL(server.url);
    address.pathname = `/${database}`;
    if (role !== undefined) [address.username, address.password] = [role, PASSWORD];
    return address.href;
  };
  const query = (text: string, database: string, role?: string) =>
    withClient(url(database, role), (client) => client.query(text));
  const runRoles = async (database: string, role?: string, prefix = "simcat") => {
    await query(rolesSql(prefix), database, role);
    for (const name of ["migrator", "writer", "reader"]) {
      await query(`ALTER ROLE ${prefix}_${name} PASSWORD '${PASSWORD}'`, database);
    }
  };
  return {
    url,
    /** What the server has logged so far. */
    log: () => readFileSync(join(stateDir, "postgres", "postgres.log"), "utf8"),
    runRoles,
    /** Creates an empty database and runs roles.sql in it by default. Returns its name. */
    async database({ roles = true } = {}): Promise<string> {
      const name = `roles_${++databases}`;
      await query(`CREATE DATABASE ${name}`, "postgres");
      if (roles) await runRoles(name);
      return name;
    },
    /** A session that ends with the test. */
    async session(database: string, role?: string): Promise<pg.Client> {
      const client = new pg.Client({ connectionString: url(database, role) });
      await client.connect();
      onTestFinished(() => client.end());
      return client;
    },
  };
}

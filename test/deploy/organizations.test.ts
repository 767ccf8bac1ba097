/** Connects two organizations to a database for reports with deploy/organizations.sql, and reads both there. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createOrganization } from "../../src/mock/organization.ts";
import { callCli } from "../support/call-cli.ts";
import { API_KEY, serve } from "../support/fixture.ts";
import { findProgram } from "../support/programs.ts";
import { useCluster } from "./cluster.ts";

const cluster = useCluster();
const psql = findProgram("psql", "postgresql-client");

/** A database with roles of this prefix, filled by the writer. */
async function organization(prefix: string, libraries: number): Promise<string> {
  const database = await cluster.database({ roles: false });
  await cluster.runRoles(database, undefined, prefix);
  const now = new Date("2026-11-20T08:00:00Z");
  const service = await serve([], {
    organization: createOrganization({ seed: 1, libraries, scenariosPerLibrary: 2, now }),
  });
  const { code, stderr } = await callCli(["backfill"], {
    SIMCAT_BASE_URL: service.url,
    SIMCAT_API_KEY: API_KEY,
    DATABASE_URL: cluster.url(database, `${prefix}_writer`),
    DATABASE_DIRECT_URL: cluster.url(database, `${prefix}_migrator`),
    SIMCAT_LOG_LEVEL: "warn",
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return database;
}

/** Runs the script in the database for reports. Returns its messages. */
async function connect(reports: string, name: string, database: string, role: string): Promise<string> {
  const target = new URL(cluster.url(database, role));
  const variables = { organization: name, host: target.hostname, port: target.port, database, user: role };
  const { stdout, stderr } = await promisify(execFile)(
    psql ?? "psql",
    [
      cluster.url(reports),
      ...Object.entries(variables).flatMap(([key, value]) => ["-v", `${key}=${value}`]),
      ...["-f", "deploy/organizations.sql"],
    ],
    { env: { PATH: process.env.PATH, ORGANIZATION_PASSWORD: decodeURIComponent(target.password) } },
  ).catch((error: { stdout: string; stderr: string }) => error);
  return stdout + stderr.replaceAll(/^psql:\S+ /gm, "");
}

test.runIf(psql)("unites organizations, each with roles of its own, in one schema (faults 302 and 384)", async () => {
  await cluster.database();
  const [north, south] = [await organization("north", 20), await organization("south", 30)];
  const others = `SELECT DISTINCT classid::regclass::text AS kind FROM pg_shdepend JOIN pg_database d ON d.oid = dbid
    WHERE datname = current_database() AND refobjid = ANY ('{simcat_writer,simcat_reader}'::regrole[])`;
  const southern = await cluster.session(south);
  expect((await southern.query(others)).rows).toEqual([]);
  await southern.query(`GRANT DELETE ON simcat.libraries TO simcat_writer;
    ALTER DEFAULT PRIVILEGES FOR ROLE south_migrator IN SCHEMA simcat GRANT SELECT ON TABLES TO simcat_writer`);
  await cluster.runRoles(south, undefined, "south");
  expect((await southern.query(others)).rows).toEqual([]);
  const reports = await cluster.database({ roles: false });
  const admin = await cluster.session(reports);
  const read = async (sql: string) => (await admin.query(sql)).rows;
  await admin.query("ALTER SYSTEM SET log_statement = 'all'");
  await admin.query("SELECT pg_reload_conf()");

  await expect(cluster.session(south, "north_writer")).rejects.toThrow("permission denied for database");
  expect(await connect(reports, "north", north, "north_reader")).toBe("");
  expect(await connect(reports, "south", south, "south_reader")).toBe("");

  const united = `SELECT organization, count(*)::int AS libraries, count(*) FILTER (WHERE owner = 'example.user') > 0 AS shared
    FROM all_organizations.libraries GROUP BY 1 ORDER BY 1`;
  expect(await read(united)).toEqual([
    { organization: "north", libraries: 20, shared: true },
    { organization: "south", libraries: 30, shared: true },
  ]);
  const complete = "SELECT organization FROM all_organizations.data_complete_as_of WHERE complete_as_of IS NOT NULL";
  expect(await read(`${complete} ORDER BY 1`)).toEqual([{ organization: "north" }, { organization: "south" }]);
  expect(cluster.log()).toContain("CREATE EXTENSION IF NOT EXISTS postgres_fdw");
  expect(cluster.log()).not.toContain("a-password-for-tests");

  const guide = readFileSync("docs/organizations.md", "utf8");
  const recipes = [...guide.matchAll(/^```sql\n([\s\S]*?)^```$/gm)];
  const found = [];
  for (const [, sql = ""] of recipes) found.push((await read(sql)).map(({ organization }) => organization));
  expect(found.map((organizations) => [...new Set(organizations)].sort())).toEqual(
    recipes.map(() => ["north", "south"]),
  );
  expect(recipes).toHaveLength(3);
  // A panel's query, altered as the guide says; Grafana inserts the variable.
  const [, into = "", from = "", filter = ""] =
    /write `(\w+)` instead of `(\w+)`,\s+and `(WHERE .*)`/.exec(guide) ?? [];
  expect(readFileSync("deploy/grafana/dashboards/simcat.json", "utf8")).toContain(`FROM ${from}.libraries`);
  const panel = `SELECT count(*)::int AS libraries FROM ${into}.libraries ${filter}`;
  expect(await read(panel.replace(/\$\{organization:sqlstring\}/, "'south'"))).toEqual([{ libraries: 30 }]);

  // An organization that has not been upgraded, a second run, and a view of the user's own in the way.
  await southern.query("DROP VIEW simcat_report.removed");
  expect(await connect(reports, "south", south, "south_reader")).toBe(
    "NOTICE:  all_organizations.removed is left out: not every organization has this view yet\n",
  );
  await admin.query("CREATE VIEW public.mine AS SELECT organization FROM all_organizations.libraries");
  expect(await connect(reports, "north", north, "north_reader")).toContain(
    "view public.mine depends on view all_organizations.libraries",
  );
  expect(await read("SELECT count(*)::int AS libraries FROM public.mine")).toEqual([{ libraries: 50 }]);
  expect(await connect(reports, "all_organizations", north, "north_reader")).toContain(
    'the name of the organization becomes a schema: use lower-case letters, digits and _, not "all_organizations"',
  );

  // One organization is down.
  await admin.query(`ALTER DATABASE ${south} ALLOW_CONNECTIONS false`);
  await admin.query("SELECT postgres_fdw_disconnect_all()");
  await southern.end();
  await expect(read("SELECT FROM all_organizations.libraries")).rejects.toThrow('could not connect to server "south"');
  expect(await read("SELECT count(*)::int AS libraries FROM north.libraries")).toEqual([{ libraries: 20 }]);
  expect(await read("SELECT rolconfig FROM pg_roles WHERE rolname = 'organizations_reader'")).toEqual([
    { rolconfig: ["jit=off", "default_transaction_read_only=on", "search_path=all_organizations"] },
  ]);
});

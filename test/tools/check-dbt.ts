import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { UTC_DATES } from "../../src/mock/date-source.ts";
import { editRandomly } from "../../src/mock/edits.ts";
import { startMockService } from "../../src/mock/mock-service.ts";
import { createOrganization } from "../../src/mock/organization.ts";
import { createRandom } from "../../src/mock/random.ts";
import { openTestPostgres } from "../support/embedded-server.ts";

const PROJECT = fileURLToPath(new URL("../../", import.meta.url));
const MAIN = join(PROJECT, "dist/main.js");
const README = readFileSync(join(PROJECT, "examples/dbt/README.md"), "utf8");
/** The blocks of the README in this language. */
const blocksOf = (language: string) =>
  [...README.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(([, block = ""]) => block);

const work = mkdtempSync(join(tmpdir(), "simcat-dbt-"));

/** Where pip finds its package index. */
const PIP = Object.fromEntries(Object.entries(process.env).filter(([name]) => /^(PIP_|SSL_|REQUESTS_)/.test(name)));

async function run(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  console.log(`\n$ ${program} ${args.join(" ")}`);
  const child = spawn(program, args, {
    cwd,
    env: { ...PIP, PATH: process.env.PATH, HOME: work, ...env },
    stdio: "inherit",
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}`);
}

/** Fills the database from a mock: a backfill, some edits, and a sync. */
async function fill(url: string): Promise<void> {
  const organization = createOrganization({ seed: 5, libraries: 60, scenariosPerLibrary: 20, now: new Date() });
  const service = await startMockService({ organization, apiKey: "mock-key" });
  const environment = { SIMCAT_BASE_URL: service.url, SIMCAT_API_KEY: "mock-key", DATABASE_URL: url };
  const random = createRandom(1);
  try {
    await run(process.execPath, [MAIN, "backfill"], work, environment);
    for (let edit = 0; edit < 20; edit++) editRandomly(organization, random, UTC_DATES);
    await run(process.execPath, [MAIN, "sync"], work, environment);
  } finally {
    await service.stop();
  }
}

/** Adds a role for dbt, as the README describes, and returns its URL. */
async function addRole(admin: string): Promise<string> {
  const password = randomBytes(12).toString("hex");
  const url = new URL(admin);
  const client = new pg.Client(admin);
  await client.connect();
  try {
    const roles = readFileSync(join(PROJECT, "deploy/roles.sql"), "utf8");
    // Only psql knows \if, which reads the prefix of the roles. There is none.
    await client.query(roles.replace(/^\\if[\s\S]*?\\endif$/m, ""));
    // The README names the database simcat.
    const sql = blocksOf("sql")
      .join("\n")
      .replace("DATABASE simcat ", `DATABASE ${url.pathname.slice(1)} `);
    await client.query(`${sql}; ALTER ROLE dbt PASSWORD '${password}'`);
  } finally {
    await client.end();
  }
  [url.username, url.password] = ["dbt", password];
  return url.href;
}

const METRICS = ["libraries", "active_libraries", "stale_libraries", "results", "parents_never_run", "stored_bytes"];

/** The same figures from the views. */
const FIGURES = `SELECT count(*) AS libraries, count(*) FILTER (WHERE work_state = 'active') AS active_libraries,
  count(*) FILTER (WHERE work_state = 'stale') AS stale_libraries, sum(result_count) AS results,
  (SELECT count(*) FROM simcat_report.parents_without_results) AS parents_never_run,
  sum(file_size_bytes) AS stored_bytes
FROM simcat_report.libraries`;

/** Runs the lines of the README, then what only a check needs. A warning is an error. */
async function check(url: string): Promise<void> {
  const { hostname, port, pathname, username, password } = new URL(url);
  const folder = join(work, "dbt");
  cpSync(join(PROJECT, "examples/dbt"), folder, { recursive: true });
  const environment = {
    SIMCAT_DBT_HOST: hostname,
    SIMCAT_DBT_PORT: port,
    SIMCAT_DBT_DATABASE: pathname.slice(1),
    SIMCAT_DBT_USER: username,
    SIMCAT_DBT_PASSWORD: password,
    DBT_WARN_ERROR: "true",
    DBT_SHOW_ALL_DEPRECATIONS: "true",
    DBT_VERSION_CHECK: "false",
    DO_NOT_TRACK: "1",
  };
  const file = join(work, "metrics.csv");
  const byDay = "--metrics results_added,libraries_by_day,bytes_by_day --group-by metric_time__day --limit 5";
  const lines = [
    ...blocksOf("sh").filter((block) => !block.includes("…")),
    "mf validate-configs --show-all",
    `mf query --metrics ${METRICS.join(",")} --csv ${file} --quiet`,
    `mf query ${byDay}`,
  ];
  await run("bash", ["-euxc", lines.join("\n")], folder, environment);
  await compareMetrics(url, readFileSync(file, "utf8"));
}

/** The metrics have the values of the views. */
async function compareMetrics(url: string, csv: string): Promise<void> {
  const [names = "", values = ""] = csv.trim().split(/\r?\n/);
  const found = Object.fromEntries(names.split(",").map((name, at) => [name, Number(values.split(",")[at])]));
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<Record<string, string>>(FIGURES);
  const { rows: comments } = await client.query(
    `SELECT count(*)::int AS columns, count(col_description(attrelid, attnum))::int AS described
     FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
     WHERE relnamespace = 'simcat_analysis'::regnamespace AND relkind IN ('r', 'v') AND attnum > 0`,
  );
  await client.end();
  const expected = Object.fromEntries(Object.entries(rows[0] ?? {}).map(([name, value]) => [name, Number(value)]));
  assert.deepEqual(found, expected);
  assert.equal(comments[0]?.described, comments[0]?.columns, "every column that dbt created has a comment");
}

const database = await openTestPostgres(join(work, "state"));
try {
  await fill(database.url);
  await check(await addRole(database.url));
  console.log("\nthe dbt package passes");
} finally {
  await database.stop();
  rmSync(work, { recursive: true, force: true });
}

/**
 * `npm run bench:reporting [-- VIEW…] [--libraries N] [--rounds N]` fills a database and measures the queries that BI tools send to
 * the views: the best of all rounds, in milliseconds, with the settings of the server and of `simcat_reader` (deploy/roles.sql).
 */
import { parseArgs } from "node:util";
import type { Connection } from "../../src/db/connect.ts";
import { type Database, withDatabase, withServer } from "../tools/database.ts";
import { describeMachine } from "../tools/machine.ts";
import { formatMachine } from "../tools/print.ts";
import { FULL, fill } from "./fill.ts";
import { PANELS, queries } from "./queries.ts";

const SETTINGS = "SET jit = off; SET max_parallel_workers_per_gather = 0; SET timezone = 'UTC'";
/** A browser sends no more requests to one host at a time. */
const PANELS_AT_ONCE = 6;

const { values: options, positionals: views } = parseArgs({
  allowPositionals: true,
  options: { libraries: { type: "string" }, rounds: { type: "string" }, url: { type: "string" } },
});
const libraries = Number(options.libraries ?? FULL.libraries);
const rounds = Number(options.rounds ?? 3);

/** Without the time that sending the rows takes, which depends on the client. */
async function measure(connection: Connection, sql: string): Promise<number> {
  const { rows } = await connection.query<Record<string, [{ "Execution Time": number; "Planning Time": number }]>>(
    `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${sql}`,
  );
  const [plan] = rows[0]?.["QUERY PLAN"] ?? [];
  if (plan === undefined) throw new Error(`EXPLAIN printed no plan for ${sql}`);
  return plan["Execution Time"] + plan["Planning Time"];
}

async function measureAll({ pool }: Database): Promise<void> {
  const connection = await pool.connect();
  await connection.query(SETTINGS);
  console.log("| View or function | Pattern | ms |\n|---|---|---|");
  for (const { view, pattern, sql } of queries(FULL.runs)) {
    if (views.length > 0 && !views.some((name) => view.startsWith(name))) continue;
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) times.push(await measure(connection, sql));
    console.log(`| \`${view}\` | ${pattern} | ${Math.min(...times).toFixed(0)} |`);
  }
  connection.release(true);
}

/** @returns the milliseconds of a dashboard's refresh: of all panels, each asked for as soon as a connection is free */
async function measureRefresh({ pool }: Database): Promise<number> {
  const waiting = [...PANELS];
  const startedAt = performance.now();
  const answers = Array.from({ length: PANELS_AT_ONCE }, async () => {
    const connection = await pool.connect();
    await connection.query(SETTINGS);
    for (let panel = waiting.shift(); panel !== undefined; panel = waiting.shift()) await connection.query(panel.sql);
    connection.release(true);
  });
  await Promise.all(answers);
  return performance.now() - startedAt;
}

async function fillAndMeasure(url: string): Promise<void> {
  await withDatabase(url, async (database) => {
    console.log(`${formatMachine(await describeMachine(database.pool))}\n${libraries * 100} scenarios\n`);
    const { rows } = await database.pool.query("SELECT FROM simcat.libraries LIMIT 1");
    if (rows.length === 0) await fill(database.pool, { ...FULL, libraries });
    await measureAll(database);
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) times.push(await measureRefresh(database));
    console.log(`\nA refresh of Grafana's dashboard: ${Math.min(...times).toFixed(0)} ms`);
  });
}

if (options.url === undefined) await withServer(fillAndMeasure);
else await fillAndMeasure(options.url);

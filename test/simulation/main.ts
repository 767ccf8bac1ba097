/**
 * npm run simulate -- --seeds 1000 --from 1 --minutes 30    as many seeds as the time allows
 * npm run simulate -- --seed 47 --verbose                   one seed, with its complete trace
 * `--bail` stops at the first failing seed. The server is an embedded one of its own, or that of TEST_DATABASE_URL.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { migrate } from "../../src/db/migrate.ts";
import { openTestPostgres, serverHome } from "../support/embedded-server.ts";
import { openControl } from "./database.ts";
import { formatFailure, runSeed } from "./run-seed.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    minutes: { type: "string" },
    bail: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
});

const from = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;
const until = values.minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + Number(values.minutes) * 60_000;
const database = await openOwnDatabase();
const failed: number[] = [];
const statuses: Record<string, number> = {};
let finished = 0;
const startedAt = Date.now();
try {
  for (let seed = from; seed < from + count && Date.now() < until; seed += 1) {
    const result = await runSeed(seed, database.control);
    finished += 1;
    for (const [status, times] of Object.entries(result.statuses)) statuses[status] = (statuses[status] ?? 0) + times;
    if (values.verbose) process.stdout.write(`${result.trace.join("\n")}\n`);
    if (result.wrong.length > 0) {
      failed.push(seed);
      process.stdout.write(`${formatFailure(result)}\n`);
      if (values.bail) break;
    }
    if (finished % 10 === 0) process.stderr.write(`${finished} seeds, ${failed.length} failed\n`);
  }
} finally {
  await database.close();
}
const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
const names = failed.length > 0 ? `: ${failed.join(" ")}` : "";
process.stdout.write(`seeds: ${finished} from ${from} in ${seconds} s, ${failed.length} failed${names}\n`);
process.stdout.write(`runs: ${JSON.stringify(statuses)}\n`);
process.exit(failed.length > 0 ? 1 : 0);

/** A separate database: on the server of TEST_DATABASE_URL, else on an embedded server. */
async function openOwnDatabase() {
  const stateDir = await mkdtemp(join(serverHome(), `simcat-simulation-${process.pid}-`));
  const given = process.env.TEST_DATABASE_URL;
  const server = given ? null : await openTestPostgres(stateDir);
  const serverUrl = given ?? server?.url ?? "";
  const name = `simcat_simulation_${randomUUID().slice(0, 8)}`;
  await inDatabase(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate(url.href, new AbortController().signal);
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

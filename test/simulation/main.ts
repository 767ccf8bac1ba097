/**
 * npm run simulate -- --seeds 1000 --from 1 --minutes 30    as many seeds as the time allows
 * npm run simulate -- --seed 47 --verbose                   one seed, with its complete trace
 * `--bail` stops at the first failing seed. The server is an embedded one of its own, or that of TEST_DATABASE_URL.
 */
import { parseArgs } from "node:util";
import { openOwnDatabase } from "./own-database.ts";
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
process.stdout.write(
  `${finished} seeds from ${from} in ${seconds} s, ${failed.length} failed${failed.length > 0 ? `: ${failed.join(" ")}` : ""}\n`,
);
process.stdout.write(`runs: ${JSON.stringify(statuses)}\n`);
process.exit(failed.length > 0 ? 1 : 0);

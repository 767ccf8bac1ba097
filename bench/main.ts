/** `npm run bench`, `npm run bench -- NAME…`, `--json`, `--tiny`: each figure a ratio against a floor of the same run. */
import { parseArgs } from "node:util";
import type { Bench } from "./bench.ts";
import { backfill } from "./benches/backfill.ts";
import { extract } from "./benches/extract.ts";
import { growth } from "./benches/growth.ts";
import { latency } from "./benches/latency.ts";
import { memory } from "./benches/memory.ts";
import { nothingNew } from "./benches/nothing-new.ts";
import { onePercent } from "./benches/one-percent.ts";
import { rewrite } from "./benches/rewrite.ts";
import { startUp } from "./benches/start-up.ts";
import { write } from "./benches/write.ts";
import { withDatabase } from "./tools/database.ts";
import { describeMachine } from "./tools/machine.ts";
import { median } from "./tools/measure.ts";
import { formatFigure, formatMachine, isReached } from "./tools/print.ts";

const BENCHES: Readonly<Record<string, Bench>> = {
  write,
  rewrite,
  extract,
  backfill,
  "nothing-new": nothingNew,
  "one-percent": onePercent,
  latency,
  memory,
  growth,
  "start-up": startUp,
};

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean" }, tiny: { type: "boolean" }, rounds: { type: "string" } },
});
const unknown = positionals.filter((name) => BENCHES[name] === undefined);
if (unknown.length > 0) {
  console.error(`no bench is called ${unknown.join(", ")}; there are ${Object.keys(BENCHES).join(", ")}`);
  process.exit(64);
}
const chosen = Object.entries(BENCHES).filter(([name]) => positionals.length === 0 || positionals.includes(name));
const { tiny = false, json = false } = options;
const rounds = Number(options.rounds ?? (tiny ? 1 : 5));
const print = (text: string) => json || console.log(text);

await withDatabase(async (database) => {
  const machine = await describeMachine(database.pool);
  print(formatMachine(machine));
  if (tiny) print("Tiny: this proves that everything runs. Its figures mean nothing.");
  const results = [];
  for (const [name, { work, run }] of chosen) {
    print(`\n${name}: ${work}`);
    const figures = await run({ tiny, rounds, database, note: console.error });
    for (const figure of figures) print(formatFigure(figure, tiny));
    results.push(
      ...figures.map((one) => ({ bench: name, ...one, median: median(one.values), reached: isReached(one) })),
    );
  }
  if (json) console.log(JSON.stringify({ machine, tiny, rounds, results }, null, 2));
});

/** `npm run bench`, `npm run bench -- NAME…`, `--json`, `--tiny`: each figure a ratio against a floor of the same run. */
import { parseArgs } from "node:util";
import { BENCHES } from "./benches.ts";
import { withDatabase, withServer } from "./tools/database.ts";
import { describeMachine } from "./tools/machine.ts";
import { median } from "./tools/measure.ts";
import { formatFigure, formatMachine, isReached } from "./tools/print.ts";
import { runBench } from "./tools/run-bench.ts";

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

await withServer(async (url) => {
  const machine = await withDatabase(url, ({ pool }) => describeMachine(pool));
  print(formatMachine(machine));
  if (tiny) print("Tiny: this proves that everything runs. Its figures mean nothing.");
  const results = [];
  for (const [name, { work }] of chosen) {
    print(`\n${name}: ${work}`);
    const figures = await runBench({ name, url, tiny, rounds });
    for (const figure of figures) print(formatFigure(figure, tiny));
    results.push(
      ...figures.map((one) => ({ bench: name, ...one, median: median(one.values), reached: isReached(one) })),
    );
  }
  if (json) console.log(JSON.stringify({ machine, tiny, rounds, results }, null, 2));
});

/** `npm run bench -- [NAME…] [--rounds N] [--json] [--tiny]` runs benches and prints each figure as a ratio to a floor. */
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
  console.error(`unknown bench: ${unknown.join(", ")}; the benches are ${Object.keys(BENCHES).join(", ")}`);
  process.exit(64);
}
const chosen = Object.entries(BENCHES).filter(([name]) => positionals.length === 0 || positionals.includes(name));
const { tiny = false, json = false } = options;
const rounds = Number(options.rounds ?? (tiny ? 1 : 5));
const print = (text: string) => json || console.log(text);

await withServer(async (url) => {
  const machine = await withDatabase(url, ({ pool }) => describeMachine(pool));
  print(formatMachine(machine));
  if (tiny) print("Tiny: proves that every bench runs. The figures mean nothing.");
  const results = [];
  for (const [name, { work }] of chosen) {
    print(`\n${name}: ${work}`);
    const figures = await runBench({ name, url, tiny, rounds });
    for (const figure of figures) print(formatFigure(figure, tiny));
    results.push(
      ...figures.map((figure) => ({
        bench: name,
        ...figure,
        median: median(figure.values),
        reached: isReached(figure),
      })),
    );
  }
  if (json) console.log(JSON.stringify({ machine, tiny, rounds, results }, null, 2));
});

/** Runs one bench in its own process, so that no bench is slowed down by memory that another one used; see `tools/run-bench.ts`. */
import { BENCHES } from "./benches.ts";
import { withDatabase } from "./tools/database.ts";
import type { BenchOrder } from "./tools/run-bench.ts";

const { name, url, tiny, rounds }: BenchOrder = JSON.parse(process.argv[2] ?? "");
const bench = BENCHES[name];
if (bench === undefined) throw new Error(`unknown bench: ${name}`);
const figures = await withDatabase(url, (database) => bench.run({ tiny, rounds, database }));
process.send?.(figures);

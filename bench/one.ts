/** One bench as a process of its own, so that none pays for what another left in memory; see `tools/run-bench.ts`. */
import { BENCHES } from "./benches.ts";
import { withDatabase } from "./tools/database.ts";
import type { BenchOrder } from "./tools/run-bench.ts";

const { name, url, tiny, rounds }: BenchOrder = JSON.parse(process.argv[2] ?? "");
const bench = BENCHES[name];
if (bench === undefined) throw new Error(`no bench is called ${name}`);
const figures = await withDatabase(url, (database) => bench.run({ tiny, rounds, database }));
process.send?.(figures);

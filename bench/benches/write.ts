import type { Bench } from "../bench.ts";
import { copyRows } from "../floors/copy.ts";
import { upsertRowByRow } from "../floors/row-by-row.ts";
import { readEverything } from "../tools/contents.ts";
import { interleave, median, ratios, sayBoth, sayCount, timed } from "../tools/measure.ts";
import { withService } from "../tools/service.ts";
import { store } from "../tools/store.ts";

const SCENARIOS = 20;
/** Row by row is measured on a part, and counted up by rows. */
const PART = 20;

export const write: Bench = {
  work: "100,000 scenarios in 5,000 libraries into empty tables, from memory",
  async run({ tiny, rounds, database }) {
    const count = tiny ? 40 : 5_000;
    const all = await withService({ libraries: count, scenarios: SCENARIOS, latencyMs: 0 }, ({ url }) =>
      readEverything(url),
    );
    const some = all.slice(0, Math.max(1, count / PART));
    const fresh = async (work: () => Promise<unknown>) => {
      await database.reset();
      return timed(work);
    };
    const times = await interleave(rounds, {
      ours: () => fresh(() => store(database, all)),
      copy: () => fresh(() => copyRows(database, all)),
      rows: async () => (await fresh(() => upsertRowByRow(database, some))) * (all.length / some.length),
    });
    const rate = `${sayCount((count * SCENARIOS) / median(times.ours))} scenarios/s`;
    return [
      {
        name: "time ÷ COPY of the same rows on one connection",
        values: ratios(times.ours, times.copy),
        target: { atMost: 1.25 },
        detail: `${sayBoth(times.ours, times.copy)}; ${rate}`,
      },
      {
        name: "rate ÷ row by row through drizzle, one transaction",
        values: ratios(times.rows, times.ours),
        target: { atLeast: 30 },
        detail: sayBoth(times.ours, times.rows),
      },
    ];
  },
};

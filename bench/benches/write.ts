import type { Bench } from "../bench.ts";
import { copyRows } from "../floors/copy.ts";
import { upsertRowByRow } from "../floors/row-by-row.ts";
import { readEverything } from "../tools/contents.ts";
import { formatCount, formatMedians, interleave, median, ratios, timed } from "../tools/measure.ts";
import { withService } from "../tools/service.ts";
import { store } from "../tools/store.ts";

const SCENARIOS_PER_LIBRARY = 20;
/** Row by row is measured on a twentieth of the libraries, and its time is multiplied. */
const ROW_BY_ROW_SHARE = 20;

export const write: Bench = {
  work: "100,000 scenarios in 5,000 libraries into empty tables, from memory",
  async run({ tiny, rounds, database }) {
    const count = tiny ? 40 : 5_000;
    const all = await withService({ libraries: count, scenarios: SCENARIOS_PER_LIBRARY, latencyMs: 0 }, ({ url }) =>
      readEverything(url),
    );
    const sample = all.slice(0, Math.max(1, count / ROW_BY_ROW_SHARE));
    const fresh = async (work: () => Promise<unknown>) => {
      await database.reset();
      return timed(work);
    };
    const times = await interleave(rounds, {
      simcat: () => fresh(() => store(database, all)),
      copy: () => fresh(() => copyRows(database, all)),
      rows: async () => (await fresh(() => upsertRowByRow(database, sample))) * (all.length / sample.length),
    });
    const rate = `${formatCount((count * SCENARIOS_PER_LIBRARY) / median(times.simcat))} scenarios/s`;
    return [
      {
        name: "time ÷ COPY of the same rows on one connection",
        values: ratios(times.simcat, times.copy),
        target: { atMost: 1.25 },
        detail: `${formatMedians(times.simcat, times.copy)}; ${rate}`,
      },
      {
        name: "rate ÷ row by row through drizzle, one transaction",
        values: ratios(times.rows, times.simcat),
        target: { atLeast: 30 },
        detail: formatMedians(times.simcat, times.rows),
      },
    ];
  },
};

import type { Bench } from "../bench.ts";
import { readBare } from "../floors/bare-client.ts";
import { copyRows } from "../floors/copy.ts";
import { fetchAndUpsert } from "../floors/naive-script.ts";
import { contentPaths } from "../floors/paths.ts";
import { CONCURRENCY } from "../tools/client.ts";
import { readEverything } from "../tools/contents.ts";
import { formatCount, formatMedians, interleave, median, ratios, timed } from "../tools/measure.ts";
import { run } from "../tools/run.ts";
import { withService } from "../tools/service.ts";

/** The script is measured on a fiftieth of the libraries, and its time is multiplied. */
const SCRIPT_SHARE = 50;

export const backfill: Bench = {
  work: "10,000 libraries with 20 scenarios each, from the service into empty tables, end to end",
  run({ tiny, rounds, database }) {
    const count = tiny ? 50 : 10_000;
    return withService({ libraries: count, scenarios: 20, latencyMs: 0 }, async ({ url }) => {
      const all = await readEverything(url);
      const keys = all.map(({ listed }) => listed.key);
      const paths = contentPaths(keys);
      const fresh = async (work: () => Promise<unknown>) => {
        await database.reset();
        return timed(work);
      };
      const times = await interleave(rounds, {
        simcat: () => fresh(() => run("backfill", url, database)),
        read: () => timed(() => readBare(url, paths, CONCURRENCY)),
        copy: () => fresh(() => copyRows(database, all)),
        script: async () =>
          (await fresh(() => fetchAndUpsert(url, database, keys.slice(0, count / SCRIPT_SHARE)))) * SCRIPT_SHARE,
      });
      const floors = times.read.map((read, round) => read + (times.copy[round] ?? Number.NaN));
      return [
        {
          name: "time ÷ (bare reading + COPY)",
          values: ratios(times.simcat, floors),
          target: { atMost: 1.3 },
          detail: `${formatMedians(times.simcat, floors)}; ${formatCount(count / median(times.simcat))} libraries/s`,
        },
        {
          name: "rate ÷ script that fetches and upserts row by row",
          values: ratios(times.script, times.simcat),
          target: { atLeast: 8 },
          detail: formatMedians(times.simcat, times.script),
        },
      ];
    });
  },
};

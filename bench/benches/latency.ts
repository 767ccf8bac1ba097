import type { Bench } from "../bench.ts";
import { readBare } from "../floors/bare-client.ts";
import { contentPaths } from "../floors/paths.ts";
import { readEverything } from "../tools/contents.ts";
import { formatMedians, formatSeconds, interleave, median, ratios, timed } from "../tools/measure.ts";
import { run } from "../tools/run.ts";
import { withService } from "../tools/service.ts";

const CONCURRENCY = 32;
const LATENCY_MS = 50;

export const latency: Bench = {
  work: "a backfill of 2,000 libraries with 20 scenarios each with 50 ms per answer and 32 requests in flight",
  run({ tiny, rounds, database }) {
    const count = tiny ? 40 : 2_000;
    return withService({ libraries: count, scenarios: 20, latencyMs: LATENCY_MS }, async ({ url }) => {
      const paths = contentPaths((await readEverything(url)).map((one) => one.listed.key));
      let requests = 0;
      const backfill = async () => {
        requests = (await run("backfill", url, database, CONCURRENCY)).counts.requests;
      };
      const times = await interleave(rounds, {
        simcat: async () => {
          await database.reset();
          return timed(backfill);
        },
        bare: () => timed(() => readBare(url, paths, CONCURRENCY)),
      });
      const least = ((requests / CONCURRENCY) * LATENCY_MS) / 1000;
      return [
        {
          name: "(requests ÷ 32) × 50 ms ÷ time",
          values: times.simcat.map((time) => least / time),
          target: { atLeast: 0.9 },
          detail: `${formatSeconds(median(times.simcat))} against ${formatSeconds(least)}`,
        },
        {
          name: "rate ÷ bare client with 32 requests in flight",
          values: ratios(times.bare, times.simcat),
          target: { atLeast: 0.9 },
          detail: formatMedians(times.simcat, times.bare),
        },
      ];
    });
  },
};

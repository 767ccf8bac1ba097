import type { Bench } from "../bench.ts";
import { median, sayTime, timed } from "../tools/measure.ts";
import { run } from "../tools/run.ts";
import { withService } from "../tools/service.ts";

const CONCURRENCY = 32;
const LATENCY_MS = 50;

export const latency: Bench = {
  work: "a backfill of 2,000 libraries with 20 scenarios each at 50 ms an answer, 32 requests in flight",
  run({ tiny, rounds, database }) {
    const count = tiny ? 40 : 2_000;
    return withService({ libraries: count, scenarios: 20, latencyMs: LATENCY_MS }, async ({ url }) => {
      const times: number[] = [];
      let requests = 0;
      for (let round = 0; round < rounds; round++) {
        await database.reset();
        times.push(
          await timed(async () => {
            requests = (await run("backfill", url, database, CONCURRENCY)).counts.requests;
          }),
        );
      }
      const least = ((requests / CONCURRENCY) * LATENCY_MS) / 1000;
      return [
        {
          name: "(requests ÷ 32) × 50 ms ÷ time",
          values: times.map((time) => least / time),
          target: { atLeast: 0.9 },
          detail: `${sayTime(median(times))} against ${sayTime(least)}`,
        },
      ];
    });
  },
};

import type { Bench } from "../bench.ts";
import { formatCount, timed } from "../tools/measure.ts";
import { run } from "../tools/run.ts";
import { withService } from "../tools/service.ts";

export const growth: Bench = {
  work: "backfills of 1,000, 10,000 and 50,000 libraries with 20 scenarios each, one of each",
  async run({ tiny, database }) {
    const counts = tiny ? [20, 40, 80] : [1_000, 10_000, 50_000];
    const perLibrary: number[] = [];
    for (const count of counts) {
      await withService({ libraries: count, scenarios: 20, latencyMs: 0 }, async ({ url }) => {
        const once = async () => {
          await database.reset();
          return timed(() => run("backfill", url, database));
        };
        // The first backfill warms up this process, and makes the service prepare its answers.
        await once();
        perLibrary.push((await once()) / count);
      });
    }
    const [smallest = Number.NaN] = perLibrary;
    const amounts = perLibrary.map(
      (seconds, index) => `${(seconds * 1e6).toFixed(0)} µs at ${formatCount(counts[index] ?? 0)}`,
    );
    return [
      {
        name: "time per library, largest ÷ smallest",
        values: [(perLibrary.at(-1) ?? Number.NaN) / smallest],
        target: { atMost: 1.3 },
        detail: amounts.join(", "),
      },
    ];
  },
};

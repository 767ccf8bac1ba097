import type { Bench } from "../bench.ts";
import { formatSeconds, median, timed } from "../tools/measure.ts";
import { run } from "../tools/run.ts";
import { withService } from "../tools/service.ts";

export const onePercent: Bench = {
  work: "a run over 10,000 libraries with 20 scenarios each, one in a hundred of which changed",
  run({ tiny, rounds, database }) {
    const count = tiny ? 100 : 10_000;
    return withService({ libraries: count, scenarios: 20, latencyMs: 0 }, async (service) => {
      const sync = () => timed(() => run("sync", service.url, database));
      const [values, amounts]: [number[], string[]] = [[], []];
      await database.reset();
      let backfill = await timed(() => run("backfill", service.url, database));
      for (let round = 1; round <= rounds; round++) {
        await database.reset();
        backfill = await timed(() => run("backfill", service.url, database));
        const nothing = median([await sync(), await sync(), await sync()]);
        await service.order({ kind: "edit", count: count / 100, round });
        const onePercentChanged = await sync();
        values.push(onePercentChanged / (nothing + backfill / 100));
        amounts.push(
          `${formatSeconds(onePercentChanged)} against ${formatSeconds(nothing)} + 1 % of ${formatSeconds(backfill)}`,
        );
      }
      return [
        {
          name: "time ÷ (nothing new + 1 % of a backfill)",
          values,
          target: { atMost: 1.5 },
          detail: amounts[amounts.length >> 1] ?? "",
        },
      ];
    });
  },
};

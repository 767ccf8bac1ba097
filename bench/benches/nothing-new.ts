import type { Bench, Figure, World } from "../bench.ts";
import { readListingAndBookmarks } from "../floors/listing.ts";
import { interleave, ratios, sayBoth, sayCount, timed } from "../tools/measure.ts";
import { run } from "../tools/run.ts";
import { seedSettled } from "../tools/seed.ts";
import { withService } from "../tools/service.ts";

const KEPT = ["libraries", "library_sync", "scenarios", "library_history", "scenario_history"];

export const nothingNew: Bench = {
  work: "a run over libraries of which none changed",
  async run(world) {
    const figures: Figure[] = [];
    for (const count of world.tiny ? [50] : [10_000, 100_000]) figures.push(await measure(count, world));
    return figures;
  },
};

function measure(count: number, { rounds, database }: World): Promise<Figure> {
  return withService({ libraries: count, scenarios: 0, latencyMs: 0 }, async ({ url }) => {
    await database.reset();
    await seedSettled(url, database);
    const before = await database.newestWrite(KEPT);
    const sync = async () => {
      const { counts } = await run("sync", url, database);
      if (counts.requests !== 1 || counts.librariesSkipped !== count) throw new Error("the run did more than to list");
    };
    const times = await interleave(rounds, {
      ours: () => timed(sync),
      floor: () => timed(() => readListingAndBookmarks(url, database)),
    });
    if ((await database.newestWrite(KEPT)) !== before) throw new Error("a run with nothing new wrote rows");
    return {
      name: `${sayCount(count)} libraries: time ÷ (listing parsed + one SELECT)`,
      values: ratios(times.ours, times.floor),
      target: { atMost: 1.5 },
      detail: `${sayBoth(times.ours, times.floor)}; one request, no row but the run's and the lease`,
    };
  });
}

import type { Bench, Figure, World } from "../bench.ts";
import { readListingAndBookmarks } from "../floors/listing.ts";
import { formatCount, formatMedians, interleave, ratios, timed } from "../tools/measure.ts";
import { run } from "../tools/run.ts";
import { seedSettled } from "../tools/seed.ts";
import { withService } from "../tools/service.ts";

const UNCHANGED_TABLES = ["libraries", "library_sync", "scenarios", "library_history", "scenario_history"];

export const nothingNew: Bench = {
  work: "a run over libraries, none of which changed",
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
    const before = await database.newestWrite(UNCHANGED_TABLES);
    const sync = async () => {
      const { counts } = await run("sync", url, database);
      if (counts.requests !== 1 || counts.librariesSkipped !== count)
        throw new Error("the run did more than read the listing");
    };
    const times = await interleave(rounds, {
      simcat: () => timed(sync),
      floor: () => timed(() => readListingAndBookmarks(url, database)),
    });
    if ((await database.newestWrite(UNCHANGED_TABLES)) !== before) throw new Error("a run with nothing new wrote rows");
    return {
      name: `${formatCount(count)} libraries: time ÷ (listing parsed + one SELECT)`,
      values: ratios(times.simcat, times.floor),
      target: { atMost: 1.5 },
      detail: `${formatMedians(times.simcat, times.floor)}; one request; only the run's row and the lease were written`,
    };
  });
}

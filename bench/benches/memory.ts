import type { Bench, World } from "../bench.ts";
import { runCli } from "../tools/cli.ts";
import { sayCount, sayTime } from "../tools/measure.ts";
import { seedSettled } from "../tools/seed.ts";
import { withService } from "../tools/service.ts";

export const memory: Bench = {
  work: "the peak of the process's resident memory, from the outside",
  run: async (world) => [await measureScenarios(world), await measureListing(world)],
};

function measureScenarios({ tiny, database }: World) {
  const count = tiny ? 12_000 : 1_000_000;
  return withService({ libraries: 1, scenarios: count, latencyMs: 0 }, async ({ url }) => {
    await database.reset();
    const { peakMB, seconds } = await runCli(["backfill"], url, database);
    const { rows } = await database.pool.query<{ count: number }>("SELECT count(*) FROM simcat.scenarios");
    if (Number(rows[0]?.count) !== count) throw new Error(`${rows[0]?.count} scenarios were stored of ${count}`);
    return {
      name: `one library with ${sayCount(count)} scenarios`,
      values: [peakMB],
      unit: "MB",
      target: { atMost: 200 },
      detail: `backfill in ${sayTime(seconds)}`,
    };
  });
}

function measureListing({ tiny, database }: World) {
  const count = tiny ? 1_000 : 1_000_000;
  return withService({ libraries: count, scenarios: 0, latencyMs: 0 }, async ({ url }) => {
    await database.reset();
    await seedSettled(url, database);
    const { peakMB, seconds } = await runCli(["sync"], url, database);
    return {
      name: `a listing of ${sayCount(count)} libraries, none changed`,
      values: [peakMB],
      unit: "MB",
      target: { atMost: 400 },
      detail: `sync in ${sayTime(seconds)}`,
    };
  });
}

import type { Bench, World } from "../bench.ts";
import { runCli } from "../tools/cli.ts";
import { formatCount, formatSeconds } from "../tools/measure.ts";
import { seedSettled } from "../tools/seed.ts";
import { withService } from "../tools/service.ts";

export const memory: Bench = {
  work: "peak resident memory of the process",
  run: async (world) => [
    await measureScenarios(world),
    await measureListing(world),
    ...(await measureBackfills(world)),
  ],
};

function measureScenarios({ tiny, database }: World) {
  const count = tiny ? 12_000 : 1_000_000;
  return withService({ libraries: 1, scenarios: count, latencyMs: 0 }, async ({ url }) => {
    await database.reset();
    const { peakMB, seconds } = await runCli(["backfill"], url, database);
    const { rows } = await database.pool.query<{ count: number }>("SELECT count(*) FROM simcat.scenarios");
    if (Number(rows[0]?.count) !== count) throw new Error(`${rows[0]?.count} of ${count} scenarios were stored`);
    return {
      name: `one library with ${formatCount(count)} scenarios`,
      values: [peakMB],
      unit: "MB",
      target: { atMost: 200 },
      detail: `backfill in ${formatSeconds(seconds)}`,
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
      name: `a listing of ${formatCount(count)} libraries, none changed`,
      values: [peakMB],
      unit: "MB",
      target: { atMost: 400 },
      detail: `sync in ${formatSeconds(seconds)}`,
    };
  });
}

function measureBackfills({ tiny, database }: World) {
  const count = tiny ? 100 : 300_000;
  return withService({ libraries: count, scenarios: 1, latencyMs: 0 }, async ({ url }) => {
    await database.reset();
    const measure = async (which: string, atMost: number) => {
      const { peakMB, seconds } = await runCli(["backfill"], url, database);
      return {
        name: `${which} backfill of ${formatCount(count)} libraries × 1 scenario`,
        values: [peakMB],
        unit: "MB",
        target: { atMost },
        detail: `backfill in ${formatSeconds(seconds)}`,
      };
    };
    return [await measure("first", 350), await measure("second", 400)];
  });
}

import type { Bench, World } from "../bench.ts";
import { runCli } from "../tools/cli.ts";
import { formatCount, formatSeconds, timed } from "../tools/measure.ts";
import { seedSettled } from "../tools/seed.ts";
import { withService } from "../tools/service.ts";

const SCENARIOS = 20;
const LATENCY_MS = 100;

/** More than the slices send, but they need a limit to share. */
const RATE = { SIMCAT_MAX_RPS: "100000" };

export const slices: Bench = {
  work: "a backfill of 5,000 libraries with 20 scenarios each in one process and in slices, 16 requests in flight each",
  run: async (world) => [...(await measureSpeed(world)), await measureProcessor(world), await measurePart(world)],
};

/** Backfills in so many processes at once. `cpu` is the processor time of all of them. */
async function backfill(
  url: string,
  { database }: World,
  processes: number,
): Promise<{ seconds: number; cpu: number }> {
  await database.reset();
  // The processes of a backfill find the schema, as in production.
  await runCli(["migrate"], url, database);
  let cpu = 0;
  const seconds = await timed(() =>
    Promise.all(
      Array.from({ length: processes }, async (_, at) => {
        const part = processes === 1 ? [] : ["--slice", `${at + 1}/${processes}`];
        cpu += (await runCli(["backfill", ...part], url, database, RATE)).cpu;
      }),
    ),
  );
  return { seconds, cpu };
}

function measureSpeed(world: World) {
  const libraries = world.tiny ? 60 : 5_000;
  return withService({ libraries, scenarios: SCENARIOS, latencyMs: LATENCY_MS }, async ({ url }) => {
    const { seconds: alone } = await backfill(url, world, 1);
    const measure = async (count: number, atLeast: number) => {
      const { seconds } = await backfill(url, world, count);
      const detail = `${formatSeconds(seconds)} against ${formatSeconds(alone)}`;
      const name = `${count} slices, 100 ms per answer: speed ÷ one process`;
      return { name, values: [alone / seconds], target: { atLeast }, detail };
    };
    return [await measure(2, 1.9), await measure(4, 3.6)];
  });
}

async function measureProcessor(world: World) {
  const options = { scenarios: SCENARIOS, latencyMs: 0 };
  const one = await withService({ libraries: 1, ...options }, ({ url }) => backfill(url, world, 1));
  return withService({ libraries: world.tiny ? 60 : 5_000, ...options }, async ({ url }) => {
    // The service prepares its answers when they are first requested.
    await backfill(url, world, 1);
    const alone = await backfill(url, world, 1);
    const both = await backfill(url, world, 2);
    return {
      name: "2 slices: processor time beyond the start ÷ one process",
      values: [Math.max(both.cpu - 2 * one.cpu, 0.001) / Math.max(alone.cpu - one.cpu, 0.001)],
      target: { atMost: 1.15 },
      detail: `${formatSeconds(both.cpu)} against ${formatSeconds(alone.cpu)}, of which each start takes ${formatSeconds(one.cpu)}`,
    };
  });
}

function measurePart({ tiny, database }: World) {
  const libraries = tiny ? 800 : 1_000_000;
  return withService({ libraries, scenarios: 0, latencyMs: 0 }, async ({ url }) => {
    await database.reset();
    await seedSettled(url, database);
    const { peakMB, seconds } = await runCli(["sync", "--slice", "1/8"], url, database, RATE);
    return {
      name: `an eighth of ${formatCount(libraries)} libraries, none changed`,
      values: [peakMB],
      unit: "MB",
      target: { atMost: 200 },
      detail: `sync in ${formatSeconds(seconds)}`,
    };
  });
}

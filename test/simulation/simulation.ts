import { organizationOf } from "../../src/mock/organization.ts";
import { createRandom } from "../../src/mock/random.ts";
import type { Control } from "./database.ts";
import { openEditHistory } from "./edit-history.ts";
import { openPools } from "./gated-pool.ts";
import { openLedger } from "./ledger.ts";
import { openScheduler } from "./scheduler.ts";
import { startSimService } from "./sim-service.ts";
import { installVirtualTime } from "./virtual-time.ts";
import type { Worker } from "./worker.ts";
import { addNamesakes, dateSourceOf, drawLibraries, drawWorld } from "./world.ts";

export type Simulation = Awaited<ReturnType<typeof createSimulation>>;

/** The state of one seed: its world, the mock service, the database and the workers. */
export async function createSimulation(seed: number, control: Control) {
  const random = createRandom(seed);
  const world = drawWorld(random);
  await control.empty();
  await control.setClock(world.startsAt, "anew");
  const time = installVirtualTime(seed);
  try {
    let runs = 0;
    const trace: string[] = [];
    /** Violations of the invariants, one sentence each. */
    const wrong: string[] = [];
    /** Active workers. */
    const workers = new Map<string, Worker>();
    /** The database's clock, in ms since the epoch. */
    const now = () => world.startsAt + time.now();
    const note = (line: string) => void trace.push(`${new Date(now()).toISOString()} ${line}`);
    const clock = () => new Date(now() + world.skew);
    const dateSource = dateSourceOf(world, clock);
    const ledger = openLedger(world.maxRemovedPercent);

    /** The server would end the session of a paused worker, as one that is idle in a transaction. */
    const unstick = async () => {
      const idle = [...workers.values()].flatMap((worker) => (worker.isPaused() ? worker.openTransactions() : []));
      for (const session of idle) await control.query("SELECT pg_terminate_backend($1)", [session]);
      if (idle.length > 0) await control.letGo();
      return idle.length > 0;
    };
    const scheduler = openScheduler(time, random, unstick);
    const pools = openPools(control.url, scheduler, control);
    const rare = createRandom(seed + 3_000_017);
    const libraries = drawLibraries(random, dateSource);
    const organization = organizationOf(rare.chance(0.3) ? addNamesakes(libraries, rare) : libraries);
    const edits = openEditHistory({ organization, now, random, dateSource, note });
    const service = await startSimService({
      organization,
      clock,
      now,
      hasDateHeader: world.hasDateHeader,
      time,
      random,
      rare,
      scheduler,
      ledger,
      edits,
      note,
    });
    return {
      world,
      control,
      random,
      time,
      dateSource,
      scheduler,
      pools,
      ledger,
      service,
      edits,
      workers,
      trace,
      wrong,
      note,
      nextRun: () => `r${++runs}`,
      now,
      /** Advances simulated time, for SQL too. */
      async pass(ms: number): Promise<void> {
        time.advanceTo(time.now() + ms);
        await control.setClock(now(), "onwards");
        service.keepListing();
      },
      async close(): Promise<void> {
        time.uninstall();
        pools.close();
        await service.mock.stop();
      },
    };
  } catch (error) {
    time.uninstall();
    throw error;
  }
}

import type { DateSource } from "../../src/mock/date-source.ts";
import { createRandom, type Random } from "../../src/mock/random.ts";
import type { MockLibrary } from "../support/mock/library.ts";
import type { Control } from "./database.ts";
import { openEditHistory } from "./edit-history.ts";
import { openPools } from "./gated-pool.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import { openScheduler, type Scheduler } from "./scheduler.ts";
import { startSimService } from "./sim-service.ts";
import { installVirtualTime, type VirtualTime } from "./virtual-time.ts";
import type { Worker } from "./worker.ts";
import { addNamesakes, dateSourceOf, drawLibraries, drawWorld, type World } from "./world.ts";

/** The Postgres server of a simulation, and its database. */
export interface TestServer {
  readonly control: Control;
  readonly databaseUrl: string;
  /** Stops the server immediately and restarts it; null if the simulation may not. */
  readonly restart: (() => Promise<void>) | null;
}

/** The state of one seed: its world, the mock service, the database and the workers. */
export interface Simulation {
  readonly world: World;
  readonly server: TestServer;
  readonly random: Random;
  readonly time: VirtualTime;
  readonly dateSource: DateSource;
  readonly scheduler: Scheduler;
  readonly pools: ReturnType<typeof openPools>;
  readonly ledger: Ledger;
  readonly service: Awaited<ReturnType<typeof startSimService>>;
  readonly edits: ReturnType<typeof openEditHistory>;
  /** Active workers. */
  readonly workers: Map<string, Worker>;
  readonly trace: string[];
  /** Violations of the invariants, one sentence each. */
  readonly wrong: string[];
  note(line: string): void;
  /** The database's clock, in ms since the epoch. */
  now(): number;
  /** Advances simulated time, for SQL too. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

export async function createSimulation(seed: number, server: TestServer): Promise<Simulation> {
  const random = createRandom(seed);
  const world = drawWorld(random);
  const { control } = server;
  await control.empty();
  await control.setClock(world.startsAt, "anew");
  const time = installVirtualTime(seed);
  try {
    const trace: string[] = [];
    const wrong: string[] = [];
    const workers = new Map<string, Worker>();
    const epoch = world.startsAt;
    const now = () => epoch + time.now();
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
    const scheduler = openScheduler({ time, random, unstick });
    const pools = openPools(server.databaseUrl, scheduler, control);
    let edit = (_: MockLibrary | undefined) => {};
    const rare = createRandom(seed + 3_000_017);
    const libraries = drawLibraries(random, dateSource);
    const service = await startSimService({
      libraries: rare.chance(0.3) ? addNamesakes(libraries, rare) : libraries,
      clock,
      now,
      hasDateHeader: world.hasDateHeader,
      time,
      random,
      rare,
      scheduler,
      ledger,
      edit: (near) => edit(near),
      note,
    });
    const { organization, earlier } = service;
    const edits = openEditHistory({ organization, earlier, random, dateSource, note });
    edit = edits.edit;
    return {
      world,
      server,
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
      now,
      async pass(ms) {
        service.versions.observe(now());
        time.advanceTo(time.now() + ms);
        await control.setClock(now(), "onwards");
        service.versions.keepListing(now());
      },
      async close() {
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

import { InterruptedError, SimcatError } from "../../src/errors.ts";
import type { RunSummary } from "../../src/run-summary.ts";
import { openService, type Service } from "../../src/service/client.ts";
import { runSync } from "../../src/sync/run.ts";
import { parseShare } from "../../src/units.ts";
import type { Gate, GatedPool } from "./gated-pool.ts";
import type { RunPlan } from "./plan-run.ts";
import { keyOf } from "./reader.ts";
import { API_KEY } from "./sim-service.ts";
import type { Simulation } from "./simulation.ts";
import type { World } from "./world.ts";

export interface WorkerOptions extends Pick<Gate, "interfere" | "onCommit"> {
  /** Names the run to the service, to the timers and in the trace. */
  readonly run: string;
  readonly plan: RunPlan;
}

/** How a worker's run ended, from the caller's view. */
export interface Ended {
  readonly status: RunSummary["status"] | "busy" | "killed" | "refused";
  readonly summary: RunSummary | null;
  /** Libraries that it reported as stored. */
  readonly stored: ReadonlySet<string>;
  readonly error: unknown;
}

export interface Worker {
  readonly run: string;
  readonly ended: Promise<Ended>;
  /** As SIGTERM does. */
  stop(): void;
  /** As SIGSTOP and SIGCONT do. */
  pause(): void;
  resume(): void;
  isPaused(): boolean;
  /** Its sessions that are within a transaction. */
  openTransactions(): number[];
}

/** The program's client of the service; `run` is its name there. */
export function openWorkerService({ concurrency, maxRetries }: World, url: string, run: string): Service {
  return openService({
    baseUrl: new URL(url),
    apiKey: API_KEY,
    defaultOwner: null,
    concurrency,
    maxRps: null,
    requestTimeoutMs: 600_000,
    maxRetries,
    maxRetryWaitMs: 60_000,
    maxBodyBytes: 1 << 26,
    version: run,
    environment: {},
    mask: (text) => text,
  });
}

/** Runs the program in a worker of its own, from connecting to the end. */
export function startWorker(simulation: Simulation, { run, plan, interfere, onCommit }: WorkerOptions): Worker {
  const { world, time, scheduler, pools, service: answering } = simulation;
  const stored = new Set<string>();
  const stop = new AbortController();
  let pool: GatedPool | null = null;
  let paused = false;
  let die = () => {};
  const death = new Promise<Ended>((resolve) => {
    die = () => resolve({ status: "killed", summary: null, stored, error: null });
  });

  async function live(): Promise<Ended> {
    const service = openWorkerService(world, answering.mock.url, run);
    scheduler.begin();
    const gated = await pools.take();
    gated.lend({
      worker: run,
      interfere,
      onCommit,
      async onDeath() {
        time.forget(run);
        scheduler.forget(run);
        gated.destroy();
        await service.close();
        time.forget(run);
        scheduler.forget(run);
        die();
      },
    });
    pool = gated;
    scheduler.end();
    const clock = {
      now: () => world.startsAt + performance.now(),
      at: (moment: number) => world.startsAt + moment,
      sample: async () => {},
    };
    const maxRemoved = parseShare(`${world.maxRemovedPercent}%`);
    if (maxRemoved === null) throw new Error("no share");
    const settings = {
      concurrency: world.concurrency,
      fullEveryMs: world.fullEveryMs,
      maxRemoved,
      serviceTimezone: "UTC",
    };
    const { kind, allowRemovals, restart, selection } = plan;
    try {
      const { summary, error } = await runSync(
        {
          pool: gated.pool,
          clock,
          service,
          settings,
          version: run,
          mask: (text) => text,
          onEvent: (event) => {
            if (event.kind === "stored") stored.add(keyOf(event.key));
          },
        },
        { kind, trigger: "cli", selection, allowRemovals, restart },
        stop.signal,
      );
      return { status: summary.status, summary, stored, error };
    } catch (error) {
      const isBusy = error instanceof SimcatError && error.code === "busy";
      return { status: isBusy ? "busy" : "refused", summary: null, stored, error };
    } finally {
      // A staging that the run gave up would be repeated after its end, when nothing executes its statements any more.
      time.forget(run);
      await gated.whenIdle();
      time.forget(run);
      if (!gated.isDead()) {
        await service.close();
        pools.giveBack(gated);
      }
    }
  }

  // The remaining work of a dead worker on its broken pool is ignored.
  const lived = time.as(run, live).then((ended) => (pool?.isDead() ? death : ended));
  return {
    run,
    ended: Promise.race([lived, death]),
    stop: () => time.as(run, () => stop.abort(new InterruptedError("SIGTERM"))),
    pause() {
      paused = true;
      scheduler.pause(run);
    },
    resume() {
      paused = false;
      scheduler.resume(run);
    },
    isPaused: () => paused,
    openTransactions: () => pool?.openTransactions() ?? [],
  };
}

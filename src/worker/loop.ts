import { readNow } from "../db/clock.ts";
import { readLastGoodRun } from "../db/read/recent-runs.ts";
import { readSnapshot } from "../db/transaction.ts";
import { EXIT, InterruptedError } from "../errors.ts";
import type { Schedule } from "./schedule.ts";
import { type Desk, runScheduled } from "./scheduled-run.ts";
import type { CurrentRun, MissReason, WorkerState } from "./state.ts";

/** How many due moments are remembered: three without a good run make the copy stale. */
const REMEMBERED = 3;

/**
 * Syncs on schedule until `signal` is aborted, and at once where the last good run is older than the interval. One run at
 * a time: a moment that comes due during one is told and passed over.
 * @returns the exit code: that of the signal when it interrupted a run, else ok
 */
export async function keepSyncing(desk: Desk, schedule: Schedule, signal: AbortSignal): Promise<number> {
  const { state, log, metrics } = desk;
  const now: { running: ReturnType<typeof runScheduled> | null } = { running: null };
  const begin = () => {
    now.running = runScheduled(desk, signal).finally(() => {
      now.running = null;
      if (!signal.aborted) tellNext(desk, schedule);
    });
  };
  const miss = (reason: MissReason, count: number, run: CurrentRun | null, why: string) => {
    state.missedTicks = { ...state.missedTicks, [reason]: state.missedTicks[reason] + count };
    metrics.missedTicks(count);
    const total = Object.values(state.missedTicks).reduce((sum, one) => sum + one, 0);
    log.warn({ code: "missed_tick", reason, count, total, run: run?.id }, why);
  };
  const missForRun = async () => {
    const run = state.current;
    if ((await desk.askDatabase()) !== null) miss("database", 1, run, "missed a tick: the database cannot be reached");
    else if (run?.id === null) miss("running", 1, run, "missed a tick: the last due run is still waiting to begin");
    else miss("running", 1, run, "missed a tick: a run is still at work");
  };
  state.phase = "working";
  if (await isDue(desk, schedule, signal)) begin();
  else tellNext(desk, schedule);
  schedule.start(
    () => {
      rememberTick(state);
      if (now.running === null) begin();
      else void missForRun();
    },
    (count) => miss("asleep", count, state.current, "missed ticks: this process, or the machine, was asleep"),
  );
  await aborted(signal);
  schedule.stop();
  state.phase = "stopping";
  log.info({ code: "worker_stopping", run: state.current?.id }, "told to stop; no further run begins");
  const last = await now.running;
  const { reason } = signal;
  return last !== null && last.error === reason && reason instanceof InterruptedError ? reason.exitCode : EXIT.ok;
}

/** Whether the last good run over everything is missing, or older than the interval, by the database's clock. */
async function isDue({ pool, log }: Desk, schedule: Schedule, signal: AbortSignal): Promise<boolean> {
  try {
    const read = async (connection: Parameters<typeof readNow>[0]) => ({
      now: await readNow(connection),
      last: await readLastGoodRun(connection),
    });
    const { now, last } = await readSnapshot(pool, "reading the last good run", read, signal);
    const isFresh = last !== null && now.getTime() - last.startedAt.getTime() <= schedule.intervalMs();
    if (isFresh)
      log.info({ code: "run_not_due", run: last.id }, "the last good run is young enough: waiting for the next tick");
    return !isFresh;
  } catch {
    // The run that is begun instead tells why it cannot.
    return true;
  }
}

function rememberTick(state: WorkerState): void {
  state.dueTicks = [...state.dueTicks, performance.now()].slice(-REMEMBERED);
}

function tellNext({ log }: Desk, schedule: Schedule): void {
  log.info({ code: "next_run", at: schedule.next().toISOString() }, "waiting for the next run");
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

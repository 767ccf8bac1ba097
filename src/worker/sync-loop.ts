import { aborted } from "../async.ts";
import { readNow } from "../db/clock.ts";
import { readLastGoodRun } from "../db/read/recent-runs.ts";
import { readSnapshot } from "../db/transaction.ts";
import { EXIT, InterruptedError } from "../errors.ts";
import type { Schedule } from "./schedule.ts";
import { runScheduled, type WorkerContext } from "./scheduled-run.ts";
import type { CurrentRun, MissReason, WorkerState } from "./worker-state.ts";

/** Three due ticks without a good run make the copy stale. */
const REMEMBERED_TICKS = 3;

/**
 * Runs `sync` on schedule until `signal` is aborted, and at the start if the last good run is older than the interval. One
 * run at a time: a tick during a run is logged and skipped.
 * @returns the exit code: that of the signal if it interrupted a run, otherwise ok
 */
export async function runSyncLoop(context: WorkerContext, schedule: Schedule, signal: AbortSignal): Promise<number> {
  const { state, log, metrics } = context;
  const loop: { running: ReturnType<typeof runScheduled> | null } = { running: null };
  const startRun = () => {
    loop.running = runScheduled(context, signal).finally(() => {
      loop.running = null;
      if (!signal.aborted) logNextRun(context, schedule);
    });
  };
  const missTicks = (reason: MissReason, count: number, run: CurrentRun | null, message: string) => {
    state.missedTicks = { ...state.missedTicks, [reason]: state.missedTicks[reason] + count };
    metrics.missedTicks(count);
    const total = Object.values(state.missedTicks).reduce((sum, missed) => sum + missed, 0);
    log.warn({ code: "missed_tick", reason, count, total, run: run?.id }, message);
  };
  const missTickDuringRun = async () => {
    const run = state.current;
    if ((await context.checkDatabase()) !== null)
      missTicks("database", 1, run, "missed a tick: the database cannot be reached");
    else if (run?.id === null)
      missTicks("running", 1, run, "missed a tick: the last due run is still waiting to start");
    else missTicks("running", 1, run, "missed a tick: a run is still in progress");
  };
  state.phase = "working";
  if (await isRunDue(context, schedule, signal)) startRun();
  else logNextRun(context, schedule);
  schedule.start(
    () => {
      rememberTick(state);
      if (loop.running === null) startRun();
      else void missTickDuringRun();
    },
    (count) => missTicks("asleep", count, state.current, "missed ticks: this process, or the machine, was asleep"),
  );
  await aborted(signal);
  schedule.stop();
  state.phase = "stopping";
  log.info({ code: "worker_stopping", run: state.current?.id }, "stop signal received; no further run starts");
  const last = await loop.running;
  const { reason } = signal;
  return last !== null && last.error === reason && reason instanceof InterruptedError ? reason.exitCode : EXIT.ok;
}

/** True if there is no good run without selectors, or if the last one is older than the interval by the database's clock. */
async function isRunDue({ pool, log }: WorkerContext, schedule: Schedule, signal: AbortSignal): Promise<boolean> {
  try {
    const read = async (connection: Parameters<typeof readNow>[0]) => ({
      now: await readNow(connection),
      last: await readLastGoodRun(connection),
    });
    const { now, last } = await readSnapshot(pool, "reading the last good run", read, signal);
    const isRecent = last !== null && now.getTime() - last.startedAt.getTime() <= schedule.intervalMs();
    if (isRecent)
      log.info({ code: "run_not_due", run: last.id }, "the last good run is recent enough; waiting for the next tick");
    return !isRecent;
  } catch {
    // The run that starts instead will report the error.
    return true;
  }
}

function rememberTick(state: WorkerState): void {
  state.dueTicks = [...state.dueTicks, performance.now()].slice(-REMEMBERED_TICKS);
}

function logNextRun({ log }: WorkerContext, schedule: Schedule): void {
  log.info({ code: "next_run", at: schedule.next().toISOString() }, "waiting for the next run");
}

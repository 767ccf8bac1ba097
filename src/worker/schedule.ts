import { createTask } from "node-cron";
import { aborted } from "../async.ts";
import type { Config } from "../config.ts";
import { DAY_MS } from "../units.ts";

export type Schedule = ReturnType<typeof createSchedule>;

const LATE_TICKS = 3;
const LOOK_AHEAD_TICKS = 100;

/** When runs are due: by a valid cron expression and the clock of this machine, and not during a pause. */
export function createSchedule({ schedule, timezone }: Pick<Config, "schedule" | "timezone">) {
  let pausedUntil = new Date(0);
  /** The moments of the last three due ticks, by `performance.now()`. */
  let dueTicks: readonly number[] = [];
  const addDueTick = () => {
    dueTicks = [...dueTicks, performance.now()].slice(-LATE_TICKS);
  };
  // By default node-cron drops a tick that is a second late. With a daily schedule that would skip a day.
  const late = { missedExecutionTolerance: 366 * DAY_MS, suppressMissedWarning: true };
  const task = createTask(schedule, addDueTick, { timezone, ...late });
  const moments = task.getNextRuns(LOOK_AHEAD_TICKS);
  // Weekends and clock changes make it longer than three intervals.
  const longestMs = Math.max(...moments.slice(LATE_TICKS).map((at, index) => Number(at) - Number(moments[index])));
  return {
    /** The next moment at which a run is due. */
    next(): Date {
      return task.getNextRuns(LOOK_AHEAD_TICKS).find((moment) => moment >= pausedUntil) ?? pausedUntil;
    },
    /** No run is due for this long. */
    pause(ms: number): void {
      pausedUntil = new Date(Date.now() + ms);
    },
    /** The end of the pause; null if there is none now. */
    pausedUntil: () => (Date.now() < pausedUntil.getTime() ? pausedUntil : null),
    /** Time between the next two due ticks. */
    intervalMs(): number {
      const [first, second] = task.getNextRuns(2);
      return Number(second) - Number(first);
    },
    /** What is older is late: three runs have been due since. A process too young to know takes the longest time of any three. */
    lateAfterMs: () => (dueTicks.length < LATE_TICKS ? longestMs : performance.now() - Math.min(...dueTicks)),
    /** Calls `due` at each tick until an abort. After a suspend, `due` is called once, and `missed` receives the number of missed ticks. */
    async run(due: () => void, missed: (ticks: number) => void, signal: AbortSignal): Promise<void> {
      let missedTicks = 0;
      task.on("execution:started", due);
      task.on("execution:missed", () => {
        addDueTick();
        missedTicks += 1;
        if (missedTicks > 1) return;
        // node-cron emits one event per missed tick, all of them synchronously.
        setImmediate(() => {
          missed(missedTicks);
          missedTicks = 0;
        });
      });
      void task.start();
      await aborted(signal);
      void task.destroy();
    },
  };
}

import { createTask, type Logger } from "node-cron";
import { DAY_MS } from "../units.ts";

/** When runs are due. Times are by the local clock, because schedules are written in local time. */
export interface Schedule {
  /** The next moment at which a run is due. */
  next(): Date;
  /** Time between the next two due ticks. */
  readonly intervalMs: () => number;
  /** The longest time that three consecutive ticks take. Weekends and clock changes make it longer than three intervals. */
  readonly threeTicksMs: () => number;
  /** Calls `onDue` at each tick. After a suspend, `onDue` is called once and `onMissed` receives the number of missed ticks. */
  start(onDue: () => void, onMissed: (ticks: number) => void): void;
  stop(): void;
  /** False if a tick is overdue, which means that the timer has stopped. */
  isAlive(): boolean;
}

/** On a busy machine a timer may be this late before it is considered stopped. */
const MAX_DELAY_MS = 60_000;
const LOOK_AHEAD_TICKS = 32;
const ignore = () => {};
const quiet: Logger = { info: ignore, warn: ignore, error: ignore, debug: ignore };

/** `schedule` is a cron expression. The configuration has validated it and the time zone. */
export function createSchedule({
  schedule,
  timezone,
}: {
  readonly schedule: string;
  readonly timezone: string;
}): Schedule {
  let onDue = ignore;
  let onMissed: (ticks: number) => void = ignore;
  let missedTicks = 0;
  let watched: { readonly wall: number; readonly monotonic: number } | null = null;
  const task = createTask(
    schedule,
    () => {
      watch();
      onDue();
    },
    // By default node-cron drops a tick that is a second late. With a daily schedule that would skip a day.
    { timezone, missedExecutionTolerance: 366 * DAY_MS, suppressMissedWarning: true, logger: quiet },
  );
  task.on("execution:missed", () => {
    missedTicks += 1;
    if (missedTicks > 1) return;
    // node-cron emits one event per missed tick, all of them synchronously.
    setImmediate(() => {
      onMissed(missedTicks);
      missedTicks = 0;
    });
  });

  const ahead = (count: number) => task.getNextRuns(count).map((date) => date.getTime());
  const longestMs = longestOfThree(ahead(LOOK_AHEAD_TICKS));
  let recent: readonly number[] = [];
  const watch = () => {
    const [wall = 0, , third = 0] = ahead(3);
    recent = [...recent, third - Date.now()].slice(-3);
    watched = { wall, monotonic: performance.now() + wall - Date.now() };
  };
  return {
    // In an hour that occurs twice at a clock change, node-cron returns a moment that its timer does not wait for.
    next: () => new Date(watched !== null && watched.wall > Date.now() ? watched.wall : (ahead(1)[0] ?? 0)),
    intervalMs() {
      const [first = 0, second = 0] = ahead(2);
      return second - first;
    },
    threeTicksMs: () => Math.max(longestMs, ...recent),
    start(due, missed) {
      onDue = due;
      onMissed = missed;
      watch();
      void task.start();
    },
    stop() {
      watched = null;
      void task.destroy();
    },
    // Both clocks must have passed the tick: after a clock change or a suspend, the timer still gets its time.
    isAlive: () =>
      watched === null ||
      Date.now() < watched.wall + MAX_DELAY_MS ||
      performance.now() < watched.monotonic + MAX_DELAY_MS,
  };
}

function longestOfThree(moments: readonly number[]): number {
  return Math.max(...moments.slice(3).map((moment, index) => moment - (moments[index] ?? moment)));
}

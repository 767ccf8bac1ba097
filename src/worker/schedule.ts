import { createTask, type Logger } from "node-cron";

/** When runs are due. Times are of the local wall clock, since people write schedules by it. */
export interface Schedule {
  /** The next moment at which a run is due. */
  next(): Date;
  /** From the next due moment to the one behind it. */
  readonly intervalMs: () => number;
  /** The longest time that three due moments in a row take: weekends, and clocks set back, make it longer than three intervals. */
  readonly threeTicksMs: () => number;
  /**
   * `onDue` is called at each due moment; one that came late (a machine asleep) comes once, and `onSlept` hears how many
   * others passed meanwhile.
   */
  start(onDue: () => void, onSlept: (ticks: number) => void): void;
  stop(): void;
  /** No due moment has passed unnoticed. */
  isAlive(): boolean;
}

/** A timer may be late by so much, on a machine that is short of time, before it counts as dead. */
const LATE_MS = 60_000;
const DAY_MS = 86_400_000;
const LOOK_AHEAD = 32;
const none = () => {};
const quiet: Logger = { info: none, warn: none, error: none, debug: none };

/** Of a schedule and a zone that the configuration has checked. */
export function openSchedule({
  schedule,
  timezone,
}: {
  readonly schedule: string;
  readonly timezone: string;
}): Schedule {
  let onDue = none;
  let onSlept: (ticks: number) => void = none;
  let slept = 0;
  let watched: { readonly wall: number; readonly monotonic: number } | null = null;
  const task = createTask(
    schedule,
    () => {
      watch();
      onDue();
    },
    // Its default would drop a run that a busy machine noticed a second late; with a daily schedule that is a day.
    { timezone, missedExecutionTolerance: 366 * DAY_MS, suppressMissedWarning: true, logger: quiet },
  );
  task.on("execution:missed", () => {
    slept += 1;
    if (slept > 1) return;
    // They come in one go, one for each moment.
    setImmediate(() => {
      onSlept(slept);
      slept = 0;
    });
  });

  const ahead = (count: number) => task.getNextRuns(count).map((date) => date.getTime());
  const usualMs = longestOfThree(ahead(LOOK_AHEAD));
  let lately: readonly number[] = [];
  const watch = () => {
    const [wall = 0, , third = 0] = ahead(3);
    lately = [...lately, third - Date.now()].slice(-3);
    watched = { wall, monotonic: performance.now() + wall - Date.now() };
  };
  return {
    // Within an hour that the clocks repeat, the library would name a moment that its timer does not wait for.
    next: () => new Date(watched !== null && watched.wall > Date.now() ? watched.wall : (ahead(1)[0] ?? 0)),
    intervalMs() {
      const [first = 0, second = 0] = ahead(2);
      return second - first;
    },
    threeTicksMs: () => Math.max(usualMs, ...lately),
    start(due, missed) {
      onDue = due;
      onSlept = missed;
      watch();
      void task.start();
    },
    stop() {
      watched = null;
      void task.destroy();
    },
    // By both clocks: one that was set forward, or a machine that slept, leaves the timer its time.
    isAlive: () =>
      watched === null || Date.now() < watched.wall + LATE_MS || performance.now() < watched.monotonic + LATE_MS,
  };
}

function longestOfThree(moments: readonly number[]): number {
  return Math.max(...moments.slice(3).map((moment, at) => moment - (moments[at] ?? moment)));
}

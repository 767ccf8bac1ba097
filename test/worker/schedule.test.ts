import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createSchedule } from "../../src/worker/schedule.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

beforeEach(() => {
  vi.useFakeTimers({ now: new Date("2026-07-01T12:03:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

const utc = (schedule: string) => createSchedule({ schedule, timezone: "UTC" });

/** Runs the schedule until the end of the test. The due moments and the numbers of missed ticks follow. */
function follow({ run }: ReturnType<typeof createSchedule>) {
  const due: string[] = [];
  const missed: number[] = [];
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  void run(
    () => due.push(new Date().toISOString().slice(5, 16)),
    (ticks) => missed.push(ticks),
    stop.signal,
  );
  return { due, missed, stop };
}

test("computes the next due moment and the interval in the zone", () => {
  const quarter = utc("*/15 * * * *");
  expect(quarter.next()).toEqual(new Date("2026-07-01T12:15:00Z"));
  expect(quarter.intervalMs()).toBe(15 * MINUTE);
  const berlin = createSchedule({ schedule: "0 9 * * *", timezone: "Europe/Berlin" });
  expect(berlin.next()).toEqual(new Date("2026-07-02T07:00:00Z"));
  expect(utc("0 0 29 2 *").next()).toEqual(new Date("2028-02-29T00:00:00Z"));
});

test("computes the next due moment after a pause, which ends by itself", () => {
  const nextAfter = (schedule: string, pauseMs: number) => {
    const paused = utc(schedule);
    paused.pause(pauseMs);
    return paused.next();
  };
  expect(nextAfter("*/15 * * * *", 42 * MINUTE)).toEqual(new Date("2026-07-01T12:45:00Z"));
  expect(nextAfter("*/15 * * * *", 42 * MINUTE + 1)).toEqual(new Date("2026-07-01T13:00:00Z"));
  // Too far ahead to look for it.
  expect(nextAfter("* * * * *", 2 * DAY)).toEqual(new Date("2026-07-03T12:03:00Z"));

  const schedule = utc("*/15 * * * *");
  expect(schedule.pausedUntil()).toBeNull();
  schedule.pause(MINUTE);
  expect(schedule.pausedUntil()).toEqual(new Date("2026-07-01T12:04:00Z"));
  vi.setSystemTime(new Date("2026-07-01T12:04:00Z"));
  expect(schedule.pausedUntil()).toBeNull();
});

test("a copy is late after three due ticks, however long they take", async () => {
  // Before three ticks have been due, the longest time that three of them take counts.
  expect(utc("0 9 * * 1-5").lateAfterMs()).toBe(5 * DAY);
  const schedule = utc("*/15 * * * *");
  expect(schedule.lateAfterMs()).toBe(45 * MINUTE);
  follow(schedule);
  await vi.advanceTimersByTimeAsync(42 * MINUTE);
  expect(schedule.lateAfterMs()).toBe(30 * MINUTE);
  await vi.advanceTimersByTimeAsync(5 * MINUTE);
  expect(schedule.lateAfterMs()).toBe(35 * MINUTE);
});

test("emits each due moment once, and none after the stop", async () => {
  const schedule = utc("*/15 * * * *");
  const { due, stop } = follow(schedule);
  await vi.advanceTimersByTimeAsync(28 * MINUTE);
  expect(due).toEqual(["07-01T12:15", "07-01T12:30"]);
  stop.abort();
  await vi.advanceTimersByTimeAsync(DAY);
  expect(due).toHaveLength(2);
});

test("after a sleep it runs once for the last due moment and reports the others as missed (fault 67)", async () => {
  const schedule = utc("*/15 * * * *");
  const { due, missed } = follow(schedule);
  // The clock advances while the timers are suspended.
  vi.setSystemTime(new Date("2026-07-01T13:05:00Z"));
  await vi.advanceTimersByTimeAsync(12 * MINUTE + 1);
  expect(due).toEqual(["07-01T13:17"]);
  expect(missed).toEqual([4]);
  // The missed ticks were due too.
  expect(schedule.lateAfterMs()).toBeLessThan(MINUTE);
});

test.each([
  // A repeated hour runs once, the second time.
  ["0 * * * *", "2026-10-24T23:30:00Z", 3, ["10-25T01:00", "10-25T02:00"]],
  ["*/30 * * * *", "2026-10-24T23:15:00Z", 2, ["10-24T23:30", "10-25T01:00"]],
  ["30 2 * * *", "2026-10-24T12:00:00Z", 48, ["10-25T01:30", "10-26T01:30"]],
  ["0 * * * *", "2027-03-27T23:30:00Z", 3, ["03-28T00:00", "03-28T01:00", "03-28T02:00"]],
  // 28 March has no 02:30.
  ["30 2 * * *", "2027-03-26T12:00:00Z", 72, ["03-27T01:30", "03-29T00:30"]],
])("%s in Berlin from %s on, across a clock change, is due as documented", async (cron, from, hours, moments) => {
  vi.setSystemTime(new Date(from));
  const schedule = createSchedule({ schedule: cron, timezone: "Europe/Berlin" });
  const { due } = follow(schedule);
  await vi.advanceTimersByTimeAsync(hours * 60 * MINUTE);
  expect(due).toEqual(moments);
});

test("the pause of a repeated hour does not make the copy stale", async () => {
  vi.setSystemTime(new Date("2026-10-24T23:00:01Z"));
  const schedule = createSchedule({ schedule: "*/15 * * * *", timezone: "Europe/Berlin" });
  follow(schedule);
  await vi.advanceTimersByTimeAsync(119 * MINUTE);
  // Three ticks were due before the pause, the oldest of them at 23:15.
  expect(schedule.lateAfterMs()).toBeGreaterThan(100 * MINUTE);
});

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createSchedule } from "../../src/worker/schedule.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

beforeEach(() => {
  vi.useFakeTimers({ now: new Date("2026-07-01T12:03:00Z") });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const utc = (schedule: string) => createSchedule({ schedule, timezone: "UTC" });

test("computes the next due moment and the interval in the zone", () => {
  const quarter = utc("*/15 * * * *");
  expect(quarter.next()).toEqual(new Date("2026-07-01T12:15:00Z"));
  expect(quarter.intervalMs()).toBe(15 * MINUTE);
  const berlin = createSchedule({ schedule: "0 9 * * *", timezone: "Europe/Berlin" });
  expect(berlin.next()).toEqual(new Date("2026-07-02T07:00:00Z"));
});

test("a copy is late after three due ticks, however long they take", async () => {
  const lateAfter = (schedule: ReturnType<typeof utc>) => performance.now() - schedule.lateBefore();
  // Before three ticks have been due, the longest time that three of them take counts.
  expect(lateAfter(utc("0 9 * * 1-5"))).toBe(5 * DAY);
  const schedule = utc("*/15 * * * *");
  expect(lateAfter(schedule)).toBe(45 * MINUTE);
  schedule.start(
    () => {},
    () => {},
  );
  await vi.advanceTimersByTimeAsync(42 * MINUTE);
  expect(lateAfter(schedule)).toBe(30 * MINUTE);
  await vi.advanceTimersByTimeAsync(5 * MINUTE);
  expect(lateAfter(schedule)).toBe(35 * MINUTE);
  schedule.stop();
});

test("the next due moment after a pause", () => {
  const schedule = utc("*/15 * * * *");
  expect(schedule.next(new Date("2026-07-01T12:45:00Z"))).toEqual(new Date("2026-07-01T12:45:00Z"));
  expect(schedule.next(new Date("2026-07-01T12:45:01Z"))).toEqual(new Date("2026-07-01T13:00:00Z"));
  // Too far ahead to look for it.
  expect(utc("* * * * *").next(new Date("2026-07-03T12:00:30Z"))).toEqual(new Date("2026-07-03T12:00:30Z"));
});

test("29 February is rare, and becomes due", () => {
  expect(utc("0 0 29 2 *").next()).toEqual(new Date("2028-02-29T00:00:00Z"));
});

test("emits each due moment once, and none after the stop", async () => {
  const schedule = utc("*/15 * * * *");
  const due: string[] = [];
  schedule.start(
    () => due.push(new Date().toISOString()),
    () => {},
  );
  await vi.advanceTimersByTimeAsync(28 * MINUTE);
  expect(due).toEqual(["2026-07-01T12:15:00.000Z", "2026-07-01T12:30:00.000Z"]);
  schedule.stop();
  await vi.advanceTimersByTimeAsync(DAY);
  expect(due).toHaveLength(2);
});

test("after a sleep it runs once for the last due moment and reports the others as missed (fault 67)", async () => {
  const schedule = utc("*/15 * * * *");
  const due: string[] = [];
  const slept: number[] = [];
  schedule.start(
    () => due.push(new Date().toISOString()),
    (ticks) => slept.push(ticks),
  );
  // The clock advances while the timers are suspended.
  vi.setSystemTime(new Date("2026-07-01T13:05:00Z"));
  await vi.advanceTimersByTimeAsync(12 * MINUTE + 1);
  expect(due).toEqual(["2026-07-01T13:17:00.000Z"]);
  expect(slept).toEqual([4]);
  // The missed ticks were due too.
  expect(performance.now() - schedule.lateBefore()).toBeLessThan(MINUTE);
  schedule.stop();
});

test("it is alive while it notices due moments", async () => {
  const schedule = utc("*/15 * * * *");
  schedule.start(
    () => {},
    () => {},
  );
  await vi.advanceTimersByTimeAsync(2 * DAY);
  expect(schedule.isAlive()).toBe(true);
  schedule.stop();
});

test("it is dead one minute after an unnoticed due moment, but not before the start or after the stop", async () => {
  const schedule = utc("*/15 * * * *");
  expect(schedule.isAlive()).toBe(true);
  vi.stubGlobal("setTimeout", () => {});
  schedule.start(
    () => {},
    () => {},
  );
  await vi.advanceTimersByTimeAsync(13 * MINUTE - 1);
  expect(schedule.isAlive()).toBe(true);
  await vi.advanceTimersByTimeAsync(1);
  expect(schedule.isAlive()).toBe(false);
  schedule.stop();
  expect(schedule.isAlive()).toBe(true);
});

function follow({ next, start }: ReturnType<typeof createSchedule>) {
  const due: string[] = [];
  start(
    () => due.push(new Date().toISOString().slice(5, 16)),
    () => {},
  );
  return { due, nextAt: () => next().toISOString().slice(5, 16) };
}

test("a repeated hour runs once, the second time, and does not make the copy stale meanwhile", async () => {
  vi.setSystemTime(new Date("2026-10-24T12:00:00Z"));
  const schedule = createSchedule({ schedule: "*/15 * * * *", timezone: "Europe/Berlin" });
  const { due, nextAt } = follow(schedule);
  await vi.advanceTimersByTimeAsync(11 * 60 * MINUTE);
  const lateBefore = schedule.lateBefore();
  due.length = 0;
  // 02:00 in summer time is 00:00Z, in winter time 01:00Z.
  await vi.advanceTimersByTimeAsync(75 * MINUTE);
  expect([due, nextAt()]).toEqual([["10-24T23:15", "10-24T23:30", "10-24T23:45"], "10-25T01:00"]);
  expect(schedule.isAlive()).toBe(true);
  // The copy is not called stale during a pause that belongs to the schedule.
  expect(schedule.lateBefore() - lateBefore).toBe(45 * MINUTE);
  await vi.advanceTimersByTimeAsync(75 * MINUTE);
  expect(due.slice(3)).toEqual(["10-25T01:00", "10-25T01:15", "10-25T01:30"]);
  schedule.stop();
});

test.each([
  ["0 * * * *", "2026-10-24T23:30:00Z", 3, ["10-25T01:00", "10-25T02:00"]],
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
  schedule.stop();
});

import { DAY_MS } from "../../units.ts";

/** How many days' offsets are remembered for a zone: half a century. */
const REMEMBERED_DAYS = 20_000;

type Offsets = (instant: number) => number;
const zones = new Map<string, Offsets>();

/**
 * The moment at which clocks of `timeZone` (an IANA name) show `wall`, both in ms as if read in UTC.
 * A local time that comes twice in autumn is taken for its first coming; one that spring leaves out, for the later of
 * its two readings, as Postgres does it.
 */
export function instantOf(wall: number, timeZone: string): number {
  if (timeZone === "UTC") return wall;
  const offsetAt = zones.get(timeZone) ?? openZone(timeZone);
  // Zones change by no more than a day at once, so the offsets around the moment are those of a day before and after.
  const before = wall - offsetAt(wall - DAY_MS);
  const after = wall - offsetAt(wall + DAY_MS);
  if (before === after) return before;
  const shown = [before, after].filter((instant) => instant + offsetAt(instant) === wall);
  return shown.length > 0 ? Math.min(...shown) : Math.max(before, after);
}

/** Asking Intl costs 20 µs, so it is asked once a day of the calendar, and each time on the days when clocks change. */
function openZone(timeZone: string): Offsets {
  const clock = clockOf(timeZone);
  const midnights = new Map<number, number>();
  const atMidnight = (day: number) => {
    const known = midnights.get(day);
    if (known !== undefined) return known;
    if (midnights.size >= REMEMBERED_DAYS) midnights.clear();
    const offset = shownOffset(clock, day * DAY_MS);
    midnights.set(day, offset);
    return offset;
  };
  const offsetAt = (instant: number) => {
    const day = Math.floor(instant / DAY_MS);
    const offset = atMidnight(day);
    return offset === atMidnight(day + 1) ? offset : shownOffset(clock, instant);
  };
  zones.set(timeZone, offsetAt);
  return offsetAt;
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const day = { year: "numeric", month: "numeric", day: "numeric" } as const;
  const time = { hour: "numeric", minute: "numeric", second: "numeric", hourCycle: "h23" } as const;
  return new Intl.DateTimeFormat("en-US", { ...day, ...time, timeZone, calendar: "gregory" });
}

/** How far the clock is ahead of UTC at the moment, in ms. */
function shownOffset(clock: Intl.DateTimeFormat, instant: number): number {
  const shown: Record<string, number> = {};
  for (const { type, value } of clock.formatToParts(instant)) shown[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  const wall = new Date(0);
  wall.setUTCFullYear(year, month - 1, day);
  wall.setUTCHours(hour, minute, second);
  return wall.getTime() - Math.floor(instant / 1000) * 1000;
}

import { DAY_MS } from "../../units.ts";

/** A zone remembers the offsets of this many days: half a century. */
const MAX_CACHED_DAYS = 20_000;

export interface TimeZone {
  /**
   * The moment at which clocks of this zone show `localTime`; both in ms, `localTime` as if in UTC. For a local time
   * that occurs twice in autumn this is the first; for one that spring skips, the later of its two readings, as in Postgres.
   */
  toInstant(localTime: number): number;
}

export const UTC: TimeZone = { toInstant: (localTime) => localTime };

/** `name` is an IANA name. */
export function createTimeZone(name: string): TimeZone {
  if (name === "UTC") return UTC;
  const offsetAt = createOffsets(name);
  return {
    toInstant(localTime) {
      // Zones change by at most a day at once, so the offsets around the moment are those of a day before and after.
      const before = localTime - offsetAt(localTime - DAY_MS);
      const after = localTime - offsetAt(localTime + DAY_MS);
      if (before === after) return before;
      const valid = [before, after].filter((instant) => instant + offsetAt(instant) === localTime);
      return valid.length > 0 ? Math.min(...valid) : Math.max(before, after);
    },
  };
}

/** Intl takes 20 µs a call, so its answer is cached per day, except for the days on which the clocks change. */
function createOffsets(timeZone: string): (instant: number) => number {
  const clock = createClock(timeZone);
  const midnights = new Map<number, number>();
  const atMidnight = (day: number) => {
    const cached = midnights.get(day);
    if (cached !== undefined) return cached;
    if (midnights.size >= MAX_CACHED_DAYS) midnights.clear();
    const offset = readOffset(clock, day * DAY_MS);
    midnights.set(day, offset);
    return offset;
  };
  return (instant) => {
    const day = Math.floor(instant / DAY_MS);
    const offset = atMidnight(day);
    return offset === atMidnight(day + 1) ? offset : readOffset(clock, instant);
  };
}

function createClock(timeZone: string): Intl.DateTimeFormat {
  const day = { year: "numeric", month: "numeric", day: "numeric" } as const;
  const time = { hour: "numeric", minute: "numeric", second: "numeric", hourCycle: "h23" } as const;
  return new Intl.DateTimeFormat("en-US", { ...day, ...time, timeZone, calendar: "gregory" });
}

/** The offset of the zone's clock from UTC at this moment, in ms. */
function readOffset(clock: Intl.DateTimeFormat, instant: number): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of clock.formatToParts(instant)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const localTime = new Date(0);
  localTime.setUTCFullYear(year, month - 1, day);
  localTime.setUTCHours(hour, minute, second);
  return localTime.getTime() - Math.floor(instant / 1000) * 1000;
}

/** Local time in a time zone. */
export interface WallClock {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
  /** East of Greenwich. */
  readonly offsetMinutes: number;
}

const MINUTE = 60_000;
const calendars = new Map<string, Intl.DateTimeFormat>();

/** Reads a moment in a zone: `UTC`, an offset such as `+05:30`, or an IANA name. */
export function readWallClock(date: Date, zone: string): WallClock {
  const offsetMinutes = zone === "UTC" ? 0 : (readOffset(zone) ?? findOffset(date, zone));
  const shifted = offsetMinutes === 0 ? date : new Date(date.getTime() + offsetMinutes * MINUTE);
  return {
    year: shifted.getUTCFullYear(),
    month: shifted.getUTCMonth() + 1,
    day: shifted.getUTCDate(),
    hour: shifted.getUTCHours(),
    minute: shifted.getUTCMinutes(),
    second: shifted.getUTCSeconds(),
    millisecond: shifted.getUTCMilliseconds(),
    offsetMinutes,
  };
}

function readOffset(zone: string): number | null {
  const match = /^([+-])(\d\d):(\d\d)$/.exec(zone);
  return match && (match[1] === "-" ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3]));
}

function findOffset(date: Date, zone: string): number {
  let calendar = calendars.get(zone);
  if (calendar === undefined) {
    calendar = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    calendars.set(zone, calendar);
  }
  const part: Record<string, number> = {};
  for (const { type, value } of calendar.formatToParts(date)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Math.round((Date.UTC(year, month - 1, day, hour, minute, second) - date.getTime()) / MINUTE);
}

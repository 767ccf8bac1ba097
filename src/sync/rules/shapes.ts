import { DAY_MS } from "../../units.ts";

/** A date's text taken apart, before any zone is applied. */
export interface DateShape {
  /** Its fields read as if they were UTC, at the start of the grain, in ms. */
  readonly wall: number;
  /** Microseconds of the text after `wall`, 0 to 999; its finer digits are cut off. */
  readonly micros: number;
  /** Length of what the text leaves open, from 1 ms to a day. */
  readonly grainMs: number;
  /** The zone that the text states; null when it states none. */
  readonly offsetMs: number | null;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** No zone is further from UTC, so a text that states a larger offset is not understood. */
export const FARTHEST_ZONE_MS = 14 * HOUR;

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const GAP = String.raw`[ \u00a0\u202f]`;
const NUMERIC_DAY = String.raw`(\d{4})-(\d\d)-(\d\d)`;
const NAMED_DAY = String.raw`(?:[a-z]{3},${GAP})?(\d{1,2})(?:-|${GAP})([a-z]{3})(?:-|${GAP})(\d{4})`;
const CLOCK = String.raw`(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:${GAP}?([ap])\.?m\.?)?`;
const ZONE = String.raw`${GAP}?(?:(z|gmt|utc?)|([+-])(\d\d)(?::?(\d\d))?)`;
const SHAPE = new RegExp(`^(?:${NUMERIC_DAY}|${NAMED_DAY})(?:(?:t|,?${GAP}(?:at${GAP})?)${CLOCK}(?:${ZONE})?)?$`, "i");

/** Null for every text that is not a whole, existing date in a shape seen with this service or its relatives. */
export function readShape(text: string): DateShape | null {
  const match = SHAPE.exec(text);
  if (match === null) return null;
  const [, year1, month1, day1, day2, month2, year2, hour, minute, second, fraction, half, utc, sign, hours, minutes] =
    match;
  const month = month1 ? Number(month1) : MONTHS.indexOf((month2 ?? "").toLowerCase()) + 1;
  const day = startOfDay(Number(year1 ?? year2), month, Number(day1 ?? day2));
  const time = readClock(hour, minute, second, fraction, half);
  const offsetMs = readOffset(utc, sign, hours, minutes);
  if (day === null || time === null || Number.isNaN(offsetMs)) return null;
  return { wall: day + time.ms, micros: time.micros, grainMs: time.grainMs, offsetMs };
}

function startOfDay(year: number, month: number, day: number): number | null {
  // `Date.UTC` would take the years 0 to 99 for 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : null;
}

type Field = string | undefined;

function readClock(hourText: Field, minuteText: Field, secondText: Field, fraction: Field, half: Field) {
  if (hourText === undefined) return { ms: 0, micros: 0, grainMs: DAY_MS };
  // Without am or pm an unpadded hour may be half of a 12-hour clock, whose texts come twice a day.
  if (half === undefined && hourText.length < 2) return null;
  const hour = half === undefined ? Number(hourText) : hourOfHalf(Number(hourText), half.toLowerCase());
  const minute = Number(minuteText);
  const second = Number(secondText ?? 0);
  if (hour > 23 || minute > 59 || second > 59) return null;
  const digits = fraction === undefined ? "" : fraction.replace(/0+$/, "");
  const ms = hour * HOUR + minute * MINUTE + second * SECOND + Number(digits.padEnd(3, "0").slice(0, 3));
  const micros = Number(digits.padEnd(6, "0").slice(3, 6));
  return { ms, micros, grainMs: digits === "" ? coarseGrain(ms) : Math.max(1, SECOND / 10 ** digits.length) };
}

/** 12 AM is midnight; an hour that no 12-hour clock shows becomes one that no clock shows. */
function hourOfHalf(hour: number, half: string): number {
  if (hour < 1 || hour > 12) return Number.POSITIVE_INFINITY;
  return (hour % 12) + (half === "p" ? 12 : 0);
}

/** Trailing zero fields do not count: nobody can tell a coarse clock from a round moment. */
function coarseGrain(ms: number): number {
  if (ms % MINUTE !== 0) return SECOND;
  if (ms % HOUR !== 0) return MINUTE;
  return ms === 0 ? DAY_MS : HOUR;
}

/** NaN for an offset that no zone has. */
function readOffset(utc: Field, sign: Field, hours: Field, minutes: Field): number | null {
  if (utc !== undefined) return 0;
  if (sign === undefined) return null;
  const size = Number(hours) * HOUR + Number(minutes ?? 0) * MINUTE;
  if (size > FARTHEST_ZONE_MS || Number(minutes ?? 0) > 59) return Number.NaN;
  return sign === "-" ? -size : size;
}

import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../units.ts";

/** The parts of a date's text, before any zone is applied. */
export interface DateFormat {
  /** The date and time as written, in ms since the epoch as if in UTC. */
  readonly localTime: number;
  /** Microseconds after `localTime`, 0 to 999; finer digits are dropped. */
  readonly micros: number;
  /** The text is precise to this many ms: from 1 ms to a day. */
  readonly precisionMs: number;
  /** The offset from UTC that the text states, in ms; null if it states none. */
  readonly offsetMs: number | null;
}

const SECOND_MS = 1000;

/** The largest offset of any zone from UTC. A text with a larger one is not parsed. */
export const MAX_OFFSET_MS = 14 * HOUR_MS;

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const GAP = String.raw`[ \u00a0\u202f]`;
const NUMERIC_DAY = String.raw`(\d{4})-(\d\d)-(\d\d)`;
const NAMED_DAY = String.raw`(?:[a-z]{3},${GAP})?(\d{1,2})(?:-|${GAP})([a-z]{3})(?:-|${GAP})(\d{4})`;
const CLOCK = String.raw`(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:${GAP}?([ap])\.?m\.?)?`;
const ZONE = String.raw`${GAP}?(?:(z|gmt|utc?)|([+-])(\d\d)(?::?(\d\d))?)`;
const SHAPE = new RegExp(`^(?:${NUMERIC_DAY}|${NAMED_DAY})(?:(?:t|,?${GAP}(?:at${GAP})?)${CLOCK}(?:${ZONE})?)?$`, "i");

/** Null unless the text is a complete, existing date in a known format. */
export function parseDateFormat(text: string): DateFormat | null {
  const match = SHAPE.exec(text);
  if (match === null) return null;
  const [, year1, month1, day1, day2, month2, year2, hour, minute, second, fraction, half, utc, sign, hours, minutes] =
    match;
  const month = month1 ? Number(month1) : MONTHS.indexOf((month2 ?? "").toLowerCase()) + 1;
  const day = startOfDay(Number(year1 ?? year2), month, Number(day1 ?? day2));
  const time = readClock(hour, minute, second, fraction, half);
  const offsetMs = readOffset(utc, sign, hours, minutes);
  if (day === null || time === null || Number.isNaN(offsetMs)) return null;
  return { localTime: day + time.ms, micros: time.micros, precisionMs: time.precisionMs, offsetMs };
}

function startOfDay(year: number, month: number, day: number): number | null {
  // `Date.UTC` maps the years 0 to 99 to 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : null;
}

type Field = string | undefined;

function readClock(hourText: Field, minuteText: Field, secondText: Field, fraction: Field, half: Field) {
  if (hourText === undefined) return { ms: 0, micros: 0, precisionMs: DAY_MS };
  // Without am or pm an unpadded hour may be of a 12-hour clock, whose texts repeat every 12 hours.
  if (half === undefined && hourText.length < 2) return null;
  const hour = half === undefined ? Number(hourText) : hourOfHalf(Number(hourText), half.toLowerCase());
  const minute = Number(minuteText);
  const second = Number(secondText ?? 0);
  if (hour > 23 || minute > 59 || second > 59) return null;
  const digits = fraction === undefined ? "" : fraction.replace(/0+$/, "");
  const ms = hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + Number(digits.padEnd(3, "0").slice(0, 3));
  const micros = Number(digits.padEnd(6, "0").slice(3, 6));
  return {
    ms,
    micros,
    precisionMs: digits === "" ? coarsePrecision(ms) : Math.max(1, SECOND_MS / 10 ** digits.length),
  };
}

/** 12 AM is midnight. Infinity for an hour that no 12-hour clock has. */
function hourOfHalf(hour: number, half: string): number {
  if (hour < 1 || hour > 12) return Number.POSITIVE_INFINITY;
  return (hour % 12) + (half === "p" ? 12 : 0);
}

/** Trailing zero fields do not count: a coarse clock and a round moment look the same. */
function coarsePrecision(ms: number): number {
  if (ms % MINUTE_MS !== 0) return SECOND_MS;
  if (ms % HOUR_MS !== 0) return MINUTE_MS;
  return ms === 0 ? DAY_MS : HOUR_MS;
}

/** In ms; null without an offset, NaN for one that no zone has. */
function readOffset(utc: Field, sign: Field, hours: Field, minutes: Field): number | null {
  if (utc !== undefined) return 0;
  if (sign === undefined) return null;
  const size = Number(hours) * HOUR_MS + Number(minutes ?? 0) * MINUTE_MS;
  if (size > MAX_OFFSET_MS || Number(minutes ?? 0) > 59) return Number.NaN;
  return sign === "-" ? -size : size;
}

import { DAY_MS, HOUR_MS, MINUTE_MS } from "./units.ts";

export type ValueParsers = ReturnType<typeof createValueParsers>;
export type TextParsers = Pick<ValueParsers, "microseconds" | "bytes">;

/** Null for an unknown format, which is noticed. `timeZone`: the IANA zone of dates without an offset. */
export function createValueParsers(timeZone: string) {
  const zone = createTimeZone(timeZone);
  let dates = false;
  let sizes = false;
  return {
    /** Since the Unix epoch. A bigint, because a double cannot hold the microseconds of distant years. */
    microseconds(text: string | null): bigint | null {
      if (!text) return null;
      const date = parseDate(text, zone);
      if (date === null) dates = true;
      return date === null ? null : BigInt(date.at) * 1000n + BigInt(date.micros);
    },
    bytes(text: string | null): number | null {
      const size = parseFileSize(text);
      if (size === null && text) sizes = true;
      return size;
    },
    /** Whether any was not parsed. */
    unparsed: () => ({ dates, sizes }),
  };
}

const QUARTER_HOUR_MS = 15 * MINUTE_MS;

export const MAX_PRECISION_MS = DAY_MS + HOUR_MS;

/** Years 1 to 9999: the range that Postgres reads from an ISO text without signs or eras. */
const EARLIEST = Date.parse("0001-01-01T00:00:00Z");
const LATEST = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Parses a `lastModified`; without an offset it is local time of `timeZone`. `at` is the earliest moment that it can mean, in ms
 * UTC. Null if its format is unknown. The specification gives no format, so two dates are never compared for identity by this.
 */
export function parseDate(text: string, timeZone: TimeZone) {
  const format = parseDateFormat(text);
  if (format === null) return null;
  const at = format.offsetMs === null ? timeZone(format.localTime) : format.localTime - format.offsetMs;
  return at >= EARLIEST && at <= LATEST ? { ...format, at } : null;
}

/** Edits within this many ms can have one text. Without an offset, an hour longer: local time repeats an hour in autumn. */
export function precisionOf(text: string): number {
  const { precisionMs, offsetMs } = parseDateFormat(text) ?? { precisionMs: DAY_MS, offsetMs: null };
  return offsetMs === null ? precisionMs + HOUR_MS : precisionMs;
}

/** The end of the latest moment in any zone, in ms UTC. An offset is not trusted: local times that end with a Z are common. */
export function latestInstant(text: string): number | null {
  const format = parseDateFormat(text);
  return format === null ? null : format.localTime + MAX_OFFSET_MS + format.precisionMs;
}

/** Whether two texts can mean the same moment; null if unknown. */
export function sameMoment(a: string | null, b: string | null): boolean | null {
  if (!a || !b) return null;
  if (a === b) return true;
  const [first, second] = [parseDateFormat(a), parseDateFormat(b)];
  if (first === null || second === null) return null;
  const apart = second.localTime - first.localTime + (first.offsetMs ?? 0) - (second.offsetMs ?? 0);
  if ((first.offsetMs === null) === (second.offsetMs === null)) return overlap(first, second, apart);
  // One of them is the local time of an unknown zone. Offsets are multiples of a quarter of an hour.
  for (let shift = -MAX_OFFSET_MS; shift <= MAX_OFFSET_MS; shift += QUARTER_HOUR_MS) {
    if (overlap(first, second, apart + shift)) return true;
  }
  return false;
}

/** Whether the two periods overlap if the second starts `apart` ms after the first. */
function overlap(first: DateFormat, second: DateFormat, apart: number): boolean {
  return apart < first.precisionMs && -apart < second.precisionMs;
}

/** The parts of a date's text, before any zone is applied. */
interface DateFormat {
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
const MAX_OFFSET_MS = 14 * HOUR_MS;

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const GAP = String.raw`[ \u00a0\u202f]`;
const NUMERIC_DAY = String.raw`(\d{4})-(\d\d)-(\d\d)`;
const NAMED_DAY = String.raw`(?:[a-z]{3},${GAP})?(\d{1,2})(?:-|${GAP})([a-z]{3})(?:-|${GAP})(\d{4})`;
const CLOCK = String.raw`(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:${GAP}?([ap])\.?m\.?)?`;
const ZONE = String.raw`${GAP}?(?:(z|gmt|utc?)|([+-])(\d\d)(?::?(\d\d))?)`;
const DATE_SHAPE = new RegExp(
  `^(?:${NUMERIC_DAY}|${NAMED_DAY})(?:(?:t|,?${GAP}(?:at${GAP})?)${CLOCK}(?:${ZONE})?)?$`,
  "i",
);

/** Null unless the text is a complete, existing date in a known format. */
function parseDateFormat(text: string): DateFormat | null {
  const match = DATE_SHAPE.exec(text);
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

type DatePart = string | undefined;

function readClock(hourText: DatePart, minuteText: DatePart, secondText: DatePart, fraction: DatePart, half: DatePart) {
  if (hourText === undefined) return { ms: 0, micros: 0, precisionMs: DAY_MS };
  // Without am or pm an unpadded hour may be of a 12-hour clock, whose texts repeat every 12 hours.
  if (half === undefined && hourText.length < 2) return null;
  const hourShown = Number(hourText);
  if (half !== undefined && (hourShown < 1 || hourShown > 12)) return null;
  // 12 AM is midnight.
  const hour = half === undefined ? hourShown : (hourShown % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  const minute = Number(minuteText);
  const second = Number(secondText ?? 0);
  if (hour > 23 || minute > 59 || second > 59) return null;
  const digits = (fraction ?? "").replace(/0+$/, "");
  const ms = hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + Number(digits.padEnd(3, "0").slice(0, 3));
  const micros = Number(digits.padEnd(6, "0").slice(3, 6));
  const precisionMs = digits === "" ? coarsePrecision(ms) : Math.max(1, SECOND_MS / 10 ** digits.length);
  return { ms, micros, precisionMs };
}

/** Trailing zero fields do not count: a coarse clock and a round moment look the same. */
function coarsePrecision(ms: number): number {
  if (ms % MINUTE_MS !== 0) return SECOND_MS;
  if (ms % HOUR_MS !== 0) return MINUTE_MS;
  return ms === 0 ? DAY_MS : HOUR_MS;
}

/** In ms; null without an offset, NaN for one that no zone has. */
function readOffset(utc: DatePart, sign: DatePart, hours: DatePart, minutes: DatePart): number | null {
  if (utc !== undefined) return 0;
  if (sign === undefined) return null;
  const size = Number(hours) * HOUR_MS + Number(minutes ?? 0) * MINUTE_MS;
  if (size > MAX_OFFSET_MS || Number(minutes ?? 0) > 59) return Number.NaN;
  return sign === "-" ? -size : size;
}

/**
 * The moment at which clocks of this zone show `localTime`; both in ms, `localTime` as if in UTC. For a local time
 * that occurs twice in autumn this is the first; for one that spring skips, the later of its two readings, as in Postgres.
 */
export type TimeZone = (localTime: number) => number;

export const UTC: TimeZone = (localTime) => localTime;

/** `name` is an IANA name. */
export function createTimeZone(name: string): TimeZone {
  if (name === "UTC") return UTC;
  const offsetAt = createOffsets(name);
  return (localTime) => {
    // Zones change by at most a day at once, so the offsets around the moment are those of a day before and after.
    const before = localTime - offsetAt(localTime - DAY_MS);
    const after = localTime - offsetAt(localTime + DAY_MS);
    if (before === after) return before;
    const valid = [before, after].filter((instant) => instant + offsetAt(instant) === localTime);
    return valid.length > 0 ? Math.min(...valid) : Math.max(before, after);
  };
}

/** Intl is slow, so its answer is cached per day, except for the days on which the clocks change. */
function createOffsets(timeZone: string): (instant: number) => number {
  const clock = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  const offsetAt = (instant: number) => {
    const [, sign, hours, minutes, seconds = 0] = ZONE_OFFSET.exec(clock.format(instant)) ?? [];
    const size = Number(hours ?? 0) * HOUR_MS + Number(minutes ?? 0) * MINUTE_MS + Number(seconds) * SECOND_MS;
    return sign === "-" ? -size : size;
  };
  const midnights = new Map<number, number>();
  const atMidnight = (day: number) => {
    const cached = midnights.get(day);
    if (cached !== undefined) return cached;
    const offset = offsetAt(day * DAY_MS);
    midnights.set(day, offset);
    return offset;
  };
  return (instant) => {
    const day = Math.floor(instant / DAY_MS);
    const offset = atMidnight(day);
    return offset === atMidnight(day + 1) ? offset : offsetAt(instant);
  };
}

/** `GMT`, `GMT+05:30` or `GMT-00:44:30`, at the end of a date. */
const ZONE_OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

const DECIMAL = String.raw`((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)`;
const SPACES = String.raw`[ \u00a0\u202f]*`;
const FILE_SIZE = new RegExp(
  `^${DECIMAL}${SPACES}(?:([kmgtp])i?b|b|bytes?)(?:${SPACES}\\(${DECIMAL}${SPACES}(?:b|bytes?)\\))?$`,
  "i",
);
const PREFIXES = ["", "k", "m", "g", "t", "p"];

/**
 * Bytes of a `fileSize` such as `240 KB`, `1.5 GB` or `216 KB  (221,184 B)`, with 1 KB = 1024 B; null if its format is unknown.
 * The specification gives no format (2.2). The first number is rounded by the service. The one in parentheses is exact, but
 * counts only if the first can be rounded from it: it differs by less than one step of the last digit, and is at least half
 * of the first (every size up to 1 MB would round up to `1 MB`).
 */
export function parseFileSize(text: string | null): number | null {
  const [, amount, prefix = "", exact] = FILE_SIZE.exec(text ?? "") ?? [];
  if (amount === undefined) return null;
  const unit = 1024 ** PREFIXES.indexOf(prefix.toLowerCase());
  const numberOf = (digits: string) => Number(digits.replaceAll(",", ""));
  const rounded = numberOf(amount) * unit;
  const step = unit / 10 ** (amount.split(".")[1]?.length ?? 0);
  const bytes = exact === undefined ? (unit === 1 ? rounded : Math.round(rounded)) : numberOf(exact);
  const agrees = exact === undefined || (Math.abs(bytes - rounded) < step && bytes >= rounded / 2);
  return agrees && Number.isSafeInteger(bytes) ? bytes : null;
}

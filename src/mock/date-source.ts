/**
 * How the service writes a date: `minute` is `2023-09-11 at 2:56 PM`, `milliseconds` `2025-04-07T14:16:12.997Z`,
 * `seconds` `2025-04-07T14:16:12Z`, `day` `2025-04-07`, `ticks` `2024-09-19 15:24:41.3994461`.
 * Only `milliseconds` and `seconds` contain the zone's offset.
 */
export type DateFormat = "minute" | "milliseconds" | "seconds" | "day" | "ticks";

/** The clock of the service, and how it writes dates. */
export interface DateSource {
  now(): Date;
  /** As in `lastModified`. */
  text(date: Date): string;
  /** As in the name of a new result: `20-Mar-2024 4:27 PM`. */
  runText(date: Date): string;
}

interface DateSourceOptions {
  readonly clock?: () => Date;
  readonly format?: DateFormat;
  /** `UTC`, an offset such as `+05:30`, or an IANA name. */
  readonly zone?: string;
}

/** A service hides changes if its format is coarse, its zone is unknown or its clock is wrong: tests set these options. */
export function createDateSource(options: DateSourceOptions = {}): DateSource {
  const { clock = () => new Date(), format = "minute", zone = "UTC" } = options;
  const offsetMinutesAt = createOffsetReader(zone);
  const toLocal = (date: Date): LocalTime => readLocalTime(date, offsetMinutesAt(date));
  return {
    now: clock,
    text: (date) => formatDate(toLocal(date), format),
    runText: (date) => formatRunDate(toLocal(date)),
  };
}

const MINUTE_MS = 60_000;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

interface LocalTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly millisecond: number;
  /** Positive east of Greenwich. */
  readonly offsetMinutes: number;
  /** The last four digits of a time in ticks of 100 ns, made up from the milliseconds; never all zero. */
  readonly ticks: number;
}

function readLocalTime(date: Date, offsetMinutes: number): LocalTime {
  const shifted = new Date(date.getTime() + offsetMinutes * MINUTE_MS);
  return {
    year: shifted.getUTCFullYear(),
    month: shifted.getUTCMonth() + 1,
    day: shifted.getUTCDate(),
    hour: shifted.getUTCHours(),
    minute: shifted.getUTCMinutes(),
    second: shifted.getUTCSeconds(),
    millisecond: shifted.getUTCMilliseconds(),
    offsetMinutes,
    ticks: 1 + ((date.getTime() * 7919) % 9999),
  };
}

function formatDate(local: LocalTime, format: DateFormat): string {
  const day = `${local.year}-${twoDigits(local.month)}-${twoDigits(local.day)}`;
  const time = `${twoDigits(local.hour)}:${twoDigits(local.minute)}:${twoDigits(local.second)}`;
  const milliseconds = String(local.millisecond).padStart(3, "0");
  switch (format) {
    case "minute":
      return `${day} at ${formatTwelveHours(local)}`;
    case "milliseconds":
      return `${day}T${time}.${milliseconds}${formatOffset(local.offsetMinutes)}`;
    case "seconds":
      return `${day}T${time}${formatOffset(local.offsetMinutes)}`;
    case "day":
      return day;
    case "ticks":
      return `${day} ${time}.${milliseconds}${String(local.ticks).padStart(4, "0")}`;
    default:
      return format satisfies never;
  }
}

const formatRunDate = (local: LocalTime): string =>
  `${twoDigits(local.day)}-${MONTHS[local.month - 1]}-${local.year} ${formatTwelveHours(local)}`;

function formatTwelveHours({ hour, minute }: LocalTime): string {
  return `${hour % 12 === 0 ? 12 : hour % 12}:${twoDigits(minute)} ${hour < 12 ? "AM" : "PM"}`;
}

function formatOffset(offsetMinutes: number): string {
  if (offsetMinutes === 0) return "Z";
  const minutes = Math.abs(offsetMinutes);
  return `${offsetMinutes < 0 ? "-" : "+"}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

const twoDigits = (value: number): string => (value < 10 ? `0${value}` : String(value));

/** The zone's offset from UTC in minutes, at a date. */
function createOffsetReader(zone: string): (date: Date) => number {
  if (zone === "UTC") return () => 0;
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(zone) ?? [];
  if (sign !== undefined) {
    const offsetMinutes = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
    return () => offsetMinutes;
  }
  const calendar = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (date) => {
    const part: Record<string, number> = {};
    for (const { type, value } of calendar.formatToParts(date)) part[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return Math.round((Date.UTC(year, month - 1, day, hour, minute, second) - date.getTime()) / MINUTE_MS);
  };
}

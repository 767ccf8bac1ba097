import { type DateSource, UTC_DATES } from "../../../src/mock/date-source.ts";

/**
 * How the service writes a date: `minute` is `2023-09-11 at 2:56 PM`, `milliseconds` `2025-04-07T14:16:12.997Z`,
 * `seconds` `2025-04-07T14:16:12Z`, `day` `2025-04-07`, `ticks` `2024-09-19 15:24:41.3994461`.
 * Only `milliseconds` and `seconds` contain the zone's offset.
 */
export type DateFormat = "minute" | "milliseconds" | "seconds" | "day" | "ticks";

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
  return {
    now: clock,
    text: (date) => formatDate(date, offsetMinutesAt(date), format),
    runText: (date) => UTC_DATES.runText(shift(date, offsetMinutesAt(date))),
  };
}

const MINUTE_MS = 60_000;

/** The date whose time in UTC is the local time of `date`. */
const shift = (date: Date, offsetMinutes: number): Date => new Date(date.getTime() + offsetMinutes * MINUTE_MS);

function formatDate(date: Date, offsetMinutes: number, format: DateFormat): string {
  const local = shift(date, offsetMinutes);
  const iso = local.toISOString().slice(0, -1);
  switch (format) {
    case "minute":
      return UTC_DATES.text(local);
    case "milliseconds":
      return `${iso}${formatOffset(offsetMinutes)}`;
    case "seconds":
      return `${iso.slice(0, 19)}${formatOffset(offsetMinutes)}`;
    case "day":
      return iso.slice(0, 10);
    case "ticks":
      return `${iso.replace("T", " ")}${ticksOf(date)}`;
    default:
      return format satisfies never;
  }
}

/** The last four digits of a time in ticks of 100 ns, made up from the milliseconds; never all zero. */
const ticksOf = (date: Date): string => String(1 + ((date.getTime() * 7919) % 9999)).padStart(4, "0");

function formatOffset(offsetMinutes: number): string {
  if (offsetMinutes === 0) return "Z";
  const minutes = Math.abs(offsetMinutes);
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, "0"));
  return `${offsetMinutes < 0 ? "-" : "+"}${hour}:${minute}`;
}

/** The zone's offset from UTC in minutes, at a date. */
function createOffsetReader(zone: string): (date: Date) => number {
  if (zone === "UTC") return () => 0;
  const [, sign, hours, minutes] = /^([+-])(\d\d):(\d\d)$/.exec(zone) ?? [];
  if (sign !== undefined) {
    const offsetMinutes = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
    return () => offsetMinutes;
  }
  // In Swedish, a date is written as in ISO 8601.
  const calendar = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
  return (date) => Math.round((Date.parse(`${calendar.format(date)}Z`) - date.getTime()) / MINUTE_MS);
}

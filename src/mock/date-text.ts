import { readWallClock, type WallClock } from "./wall-clock.ts";

/**
 * How the service writes a date: `minute` is `2023-09-11 at 2:56 PM`, `milliseconds` `2025-04-07T14:16:12.997Z`,
 * `seconds` `2025-04-07T14:16:12Z`, `day` `2025-04-07`, `ticks` `2024-09-19 15:24:41.3994461`.
 */
export type DateFormat = "minute" | "milliseconds" | "seconds" | "day" | "ticks";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The two ISO formats carry the zone's offset, the others carry none. */
export function formatDate(date: Date, format: DateFormat, zone: string): string {
  const clock = readWallClock(date, zone);
  const day = `${clock.year}-${two(clock.month)}-${two(clock.day)}`;
  const time = `${two(clock.hour)}:${two(clock.minute)}:${two(clock.second)}`;
  const thousandths = String(clock.millisecond).padStart(3, "0");
  switch (format) {
    case "minute":
      return `${day} at ${formatTwelveHours(clock)}`;
    case "milliseconds":
      return `${day}T${time}.${thousandths}${formatOffset(clock.offsetMinutes)}`;
    case "seconds":
      return `${day}T${time}${formatOffset(clock.offsetMinutes)}`;
    case "day":
      return day;
    case "ticks":
      return `${day} ${time}.${thousandths}${finerDigits(date)}`;
    default:
      return format satisfies never;
  }
}

/** The date format in the name of a new result: `20-Mar-2024 4:27 PM`. */
export function formatRunDate(date: Date, zone: string): string {
  const clock = readWallClock(date, zone);
  return `${two(clock.day)}-${MONTHS[clock.month - 1]}-${clock.year} ${formatTwelveHours(clock)}`;
}

const two = (value: number): string => (value < 10 ? `0${value}` : String(value));

function formatTwelveHours({ hour, minute }: WallClock): string {
  return `${hour % 12 === 0 ? 12 : hour % 12}:${two(minute)} ${hour < 12 ? "AM" : "PM"}`;
}

function formatOffset(minutes: number): string {
  if (minutes === 0) return "Z";
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** A JavaScript date ends at milliseconds: the last four digits are made from it, never all zero. */
const finerDigits = (date: Date): string => String(1 + ((date.getTime() * 7919) % 9999)).padStart(4, "0");

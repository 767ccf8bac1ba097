/** The clock of the service, and how it writes dates. */
export interface DateSource {
  now(): Date;
  /** As in `lastModified`: `2023-09-11 at 2:56 PM`. */
  text(date: Date): string;
  /** As in the name of a new result: `20-Mar-2024 4:27 PM`. */
  runText(date: Date): string;
}

/** The system's clock. Dates are written in UTC. */
export const UTC_DATES: DateSource = {
  now: () => new Date(),
  text: (date) => `${date.toISOString().slice(0, 10)} at ${formatTwelveHours(date)}`,
  runText: (date) =>
    `${twoDigits(date.getUTCDate())}-${MONTH_NAMES[date.getUTCMonth()]}-${date.getUTCFullYear()} ${formatTwelveHours(date)}`,
};

const MONTH_NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function formatTwelveHours(date: Date): string {
  const hour = date.getUTCHours();
  return `${hour % 12 === 0 ? 12 : hour % 12}:${twoDigits(date.getUTCMinutes())} ${hour < 12 ? "AM" : "PM"}`;
}

const twoDigits = (value: number): string => String(value).padStart(2, "0");

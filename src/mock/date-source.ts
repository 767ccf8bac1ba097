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
  // `toUTCString` returns `Wed, 20 Mar 2024 16:27:00 GMT`.
  runText: (date) => `${date.toUTCString().slice(5, 16).replaceAll(" ", "-")} ${formatTwelveHours(date)}`,
};

function formatTwelveHours(date: Date): string {
  const hour = date.getUTCHours();
  return `${hour % 12 === 0 ? 12 : hour % 12}:${date.toISOString().slice(14, 16)} ${hour < 12 ? "AM" : "PM"}`;
}

/** The clock of the service, and how it writes dates: the system's clock, and dates in UTC. */
export const UTC_DATES = {
  now: () => new Date(),
  /** As in `lastModified`: `2023-09-11 at 2:56 PM`. */
  text: (date: Date) => `${date.toISOString().slice(0, 10)} at ${formatTwelveHours(date)}`,
  /** As in the name of a new result: `20-Mar-2024 4:27 PM`. `toUTCString` returns `Wed, 20 Mar 2024 16:27:00 GMT`. */
  runText: (date: Date) => `${date.toUTCString().slice(5, 16).replaceAll(" ", "-")} ${formatTwelveHours(date)}`,
};

export type DateSource = typeof UTC_DATES;

function formatTwelveHours(date: Date): string {
  const hour = date.getUTCHours();
  return `${hour % 12 === 0 ? 12 : hour % 12}:${date.toISOString().slice(14, 16)} ${hour < 12 ? "AM" : "PM"}`;
}

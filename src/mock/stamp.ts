import { type DateFormat, formatDate, formatRunDate } from "./date-text.ts";

/** The clock of the service, and how it writes dates. */
export interface Stamp {
  now(): Date;
  /** As in `lastModified`. */
  text(date: Date): string;
  /** As in the name of a new result. */
  runText(date: Date): string;
}

/** A coarse format, another zone or a clock that is off are ways in which a service hides changes. */
export function createStamp(
  options: { readonly clock?: () => Date; readonly format?: DateFormat; readonly zone?: string } = {},
): Stamp {
  const { clock = () => new Date(), format = "minute", zone = "UTC" } = options;
  return {
    now: clock,
    text: (date) => formatDate(date, format, zone),
    runText: (date) => formatRunDate(date, zone),
  };
}

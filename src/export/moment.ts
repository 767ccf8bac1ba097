import { UsageError } from "../errors.ts";
import { DAY_MS, parseDuration } from "../units.ts";

/** A moment: a time as ISO 8601 text, or a time before the transaction's. */
export interface Moment {
  readonly iso?: string;
  readonly agoMs?: number;
}

/** Every system can represent dates of the last 100 years. */
const MAX_AGO_MS = 100 * 365 * DAY_MS;

const SHAPE =
  /^(\d{4}-\d{2}-\d{2})(?:[T ]([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(Z|[+-](?:0\d|1[0-4]):?[0-5]\d)?)?$/i;

/**
 * Parses an ISO 8601 date (its start), a timestamp, or a duration before now such as `7d`. Without a zone it is UTC.
 * @throws UsageError with the accepted forms
 */
export function parseMoment(option: string, text: string): Moment {
  const agoMs = parseDuration(text);
  if (agoMs !== null && agoMs <= MAX_AGO_MS) return { agoMs };
  const [, date = "", hour, zone] = SHAPE.exec(text) ?? [];
  if (isDay(date)) return { iso: hour === undefined || zone !== undefined ? text : `${text}Z` };
  throw new UsageError(`${option} ${JSON.stringify(text)} is not a moment`, {
    hint: "write it as 2026-07-01, 2026-07-01T12:00:00Z, or 7d for seven days ago",
  });
}

/** False for a day that no month has, which JavaScript reads as one of the next month, and for the year 0. */
function isDay(date: string): boolean {
  const parsed = new Date(`${date}T00:00Z`);
  return !date.startsWith("0000") && !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
}

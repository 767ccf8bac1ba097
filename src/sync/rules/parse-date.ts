import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../units.ts";
import { type DateFormat, MAX_OFFSET_MS, parseDateFormat } from "./date-format.ts";
import type { TimeZone } from "./time-zone.ts";

/** A parsed `lastModified`. The specification gives it no format, so two dates are never compared for identity by this. */
export interface ParsedDate {
  /** The earliest moment that the text can mean, in ms UTC. */
  readonly at: number;
  /** Microseconds after `at`, 0 to 999. */
  readonly micros: number;
  /** The text means a moment in [at, at + precisionMs). */
  readonly precisionMs: number;
  /** Whether the text itself states its zone. */
  readonly zoned: boolean;
}

const QUARTER_HOUR_MS = 15 * MINUTE_MS;

export const MAX_PRECISION_MS = DAY_MS + HOUR_MS;

/** Years 1 to 9999: the range that Postgres reads from an ISO text without signs or eras. */
const EARLIEST = Date.parse("0001-01-01T00:00:00Z");
const LATEST = Date.parse("9999-12-31T23:59:59.999Z");

/** Parses a date; without an offset it is local time of `timeZone`. Null if its format is unknown. */
export function parseDate(text: string, timeZone: TimeZone): ParsedDate | null {
  const format = parseDateFormat(text);
  if (format === null) return null;
  const zoned = format.offsetMs !== null;
  const at = format.offsetMs === null ? timeZone.toInstant(format.localTime) : format.localTime - format.offsetMs;
  return at >= EARLIEST && at <= LATEST ? { at, micros: format.micros, precisionMs: format.precisionMs, zoned } : null;
}

/**
 * Edits of this period, in ms, can have the same text. Without an offset it is an hour longer, because local time repeats
 * an hour in autumn. An unknown format counts as a day without an offset.
 */
export function precisionOf(text: string): number {
  const format = parseDateFormat(text);
  if (format === null) return MAX_PRECISION_MS;
  return format.offsetMs === null ? format.precisionMs + HOUR_MS : format.precisionMs;
}

/**
 * The end of the latest moment that the text can mean in any zone, in ms UTC; null if its format is unknown.
 * A stated offset is not trusted: local times that end with a Z are a common mistake.
 */
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
  const apart = startOf(second) - startOf(first);
  if ((first.offsetMs === null) === (second.offsetMs === null)) return overlap(first, second, apart);
  // One of them is the local time of an unknown zone. Offsets are multiples of a quarter of an hour.
  for (let shift = -MAX_OFFSET_MS; shift <= MAX_OFFSET_MS; shift += QUARTER_HOUR_MS) {
    if (overlap(first, second, apart + shift)) return true;
  }
  return false;
}

function startOf(format: DateFormat): number {
  return format.localTime - (format.offsetMs ?? 0);
}

/** Whether the two periods overlap if the second starts `apart` ms after the first. */
function overlap(first: DateFormat, second: DateFormat, apart: number): boolean {
  return apart < first.precisionMs && -apart < second.precisionMs;
}

import { DAY_MS, HOUR_MS } from "../../units.ts";
import { type DateShape, FARTHEST_ZONE_MS, readShape } from "./shapes.ts";
import { instantOf } from "./zones.ts";

/** A `lastModified` that could be read. Its format is not specified; these are readings, never identities. */
export interface ReadDate {
  /** Start of the grain, in ms UTC. */
  readonly at: number;
  /** Microseconds after `at`, 0 to 999. */
  readonly micros: number;
  /** The moment lies in [at, at + grainMs). */
  readonly grainMs: number;
  /** Whether the text itself states its zone. */
  readonly zoned: boolean;
}

const QUARTER_HOUR_MS = 15 * 60_000;

/** No text has a longer grain. */
export const LONGEST_GRAIN_MS = DAY_MS + HOUR_MS;

/** Years 1 to 9999: what Postgres reads back from an ISO text without signs or eras. */
const EARLIEST = Date.parse("0001-01-01T00:00:00Z");
const LATEST = Date.parse("9999-12-31T23:59:59.999Z");

/** Reads a date; one without a zone as local time of `timeZone` (an IANA name). Null where it is not sure. */
export function readDate(text: string, timeZone: string): ReadDate | null {
  const shape = readShape(text);
  if (shape === null) return null;
  const zoned = shape.offsetMs !== null;
  const at = shape.offsetMs === null ? instantOf(shape.wall, timeZone) : shape.wall - shape.offsetMs;
  return at >= EARLIEST && at <= LATEST ? { at, micros: shape.micros, grainMs: shape.grainMs, zoned } : null;
}

/**
 * For how long, in ms, further edits can go on to carry this very text. Without a zone an hour more, since local time
 * repeats one in autumn. An unknown shape is taken for a day, without a zone.
 */
export function grainOf(text: string): number {
  const shape = readShape(text);
  if (shape === null) return LONGEST_GRAIN_MS;
  return shape.offsetMs === null ? shape.grainMs + HOUR_MS : shape.grainMs;
}

/**
 * The end of the latest moment that the text can stand for in any zone, in ms UTC; null when it cannot be read.
 * A stated zone is not trusted either: local times with a Z behind them are a common slip.
 */
export function latestInstant(text: string): number | null {
  const shape = readShape(text);
  return shape === null ? null : shape.wall + FARTHEST_ZONE_MS + shape.grainMs;
}

/** Whether two texts can name the same moment; null when nobody can tell. */
export function sameMoment(a: string | null, b: string | null): boolean | null {
  if (!a || !b) return null;
  if (a === b) return true;
  const [first, second] = [readShape(a), readShape(b)];
  if (first === null || second === null) return null;
  const apart = startOf(second) - startOf(first);
  if ((first.offsetMs === null) === (second.offsetMs === null)) return overlap(first, second, apart);
  // One of them is the local time of a zone that we do not know; zones lie on quarters of an hour.
  for (let shift = -FARTHEST_ZONE_MS; shift <= FARTHEST_ZONE_MS; shift += QUARTER_HOUR_MS) {
    if (overlap(first, second, apart + shift)) return true;
  }
  return false;
}

function startOf(shape: DateShape): number {
  return shape.wall - (shape.offsetMs ?? 0);
}

/** Whether two grains overlap when the second starts `apart` ms after the first. */
function overlap(first: DateShape, second: DateShape, apart: number): boolean {
  return apart < first.grainMs && -apart < second.grainMs;
}

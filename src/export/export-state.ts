import { type Connection, oneRow } from "../db/connect.ts";
import { UsageError } from "../errors.ts";
import { CENTURY_MS, parseDuration } from "../units.ts";

/** A moment: a time as ISO 8601 text, or a time before the transaction's. */
export interface Moment {
  readonly iso?: string;
  readonly agoMs?: number;
}

const SHAPE =
  /^(\d{4}-\d{2}-\d{2})(?:[T ]([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(Z|[+-](?:0\d|1[0-4]):?[0-5]\d)?)?$/i;

/**
 * Parses an ISO 8601 date (its start), a timestamp, or a duration before now such as `7d`. Without a zone it is UTC.
 * @throws UsageError with the accepted forms
 */
export function parseMoment(option: string, text: string): Moment {
  const agoMs = parseDuration(text);
  if (agoMs !== null && agoMs <= CENTURY_MS) return { agoMs };
  const [, date = "", hour, zone] = SHAPE.exec(text) ?? [];
  // JavaScript reads a day that no month has as one of the next month, and has the year 0.
  const day = new Date(`${date}T00:00Z`);
  const isDay = !date.startsWith("0000") && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date);
  if (isDay) return { iso: hour === undefined || zone !== undefined ? text : `${text}Z` };
  throw new UsageError(`${option} ${JSON.stringify(text)} is not a moment`, {
    hint: "write it as 2026-07-01, 2026-07-01T12:00:00Z, or 7d for seven days ago",
  });
}

/** The state of the copy, and the moments of the filters, as ISO 8601 texts in UTC with microseconds. */
export interface ExportState {
  /** The time of the transaction. */
  readonly exported_at: string;
  readonly complete_as_of: string | null;
  /** Since when the history and the events are complete. NULL: not known. */
  readonly history_complete_since: string | null;
  readonly events_complete_since: string | null;
  readonly as_of: string | null;
  readonly since: string | null;
}

/** `2026-07-01T12:00:00.000000Z`. NULL for an infinite time. */
export const isoTime = (sql: string) => `to_char(${sql} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

const resolve = (iso: string, agoMs: string) =>
  isoTime(`coalesce(${iso}::timestamptz, now() - ${agoMs}::float8 * interval '1 millisecond')`);

const SELECT_STATE = `
SELECT ${isoTime("now()")} AS exported_at,
  ${["complete_as_of", "history_complete_since", "events_complete_since"].map((name) => `${isoTime(name)} AS ${name}`)},
  ${resolve("$1", "$2")} AS as_of, ${resolve("$3", "$4")} AS since
FROM simcat_report.data_complete_as_of`;

/** @throws UsageError for a moment in the future or before the history */
export async function readExportState(connection: Connection, asOfMoment: Moment | null, sinceMoment: Moment | null) {
  const values = [asOfMoment?.iso, asOfMoment?.agoMs, sinceMoment?.iso, sinceMoment?.agoMs];
  const state = oneRow(await connection.query<ExportState>(SELECT_STATE, values));
  const { as_of, since, exported_at, history_complete_since: complete } = state;
  // The texts have one length, so they sort like their times.
  for (const [option, time] of [["--as-of", as_of] as const, ["--since", since] as const])
    if (time !== null && time > exported_at)
      throw new UsageError(`${option} ${time} is in the future: by the database's clock it is ${exported_at}`);
  if (as_of === null || (complete !== null && as_of >= complete)) return state;
  const [begin, hint] =
    complete === null
      ? ["no run has seen everything yet", "export without --as-of what is stored now"]
      : [`the history is complete since ${complete}`, "choose that moment or a later one"];
  throw new UsageError(`--as-of ${as_of} is too early: ${begin}`, { hint });
}

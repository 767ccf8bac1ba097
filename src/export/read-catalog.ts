import { type Connection, oneRow } from "../db/connect.ts";
import { UsageError } from "../errors.ts";
import type { Moment } from "./moment.ts";

/** A view of simcat_report, as the catalogue describes it. Every role may read the catalogue. */
export interface ReportView {
  readonly name: string;
  readonly comment: string | null;
  readonly columns: readonly ViewColumn[];
  /** False for a materialized view, which cannot be locked. */
  readonly isView: boolean;
  /** Whether there is a function that returns its rows of an earlier moment, such as `libraries_as_of`. */
  readonly hasAsOf: boolean;
}

export interface ViewColumn {
  readonly name: string;
  /** As in SQL: `timestamp with time zone`. */
  readonly type: string;
  readonly comment: string | null;
}

const SELECT_VIEWS = `
SELECT c.relname AS name, c.relkind = 'v' AS "isView", obj_description(c.oid, 'pg_class') AS comment,
  (
    SELECT jsonb_agg(jsonb_build_object(
      'name', a.attname, 'type', format_type(a.atttypid, NULL), 'comment', col_description(c.oid, a.attnum)
    ) ORDER BY a.attnum)
    FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  ) AS columns,
  EXISTS (SELECT FROM pg_proc p WHERE p.pronamespace = n.oid AND p.proname = c.relname || '_as_of') AS "hasAsOf"
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'simcat_report' AND c.relkind IN ('v', 'm')
ORDER BY c.relname`;

/** All views of simcat_report, by name; none if there is no schema. */
export const readReportViews = async (connection: Connection) =>
  (await connection.query<ReportView>(SELECT_VIEWS)).rows;

/** The state of the copy, and the moments of the filters, as ISO 8601 texts in UTC with microseconds. */
interface ExportState {
  /** The time of the transaction. */
  readonly exportedAt: string;
  readonly completeAsOf: string | null;
  /** Since when the history is complete. NULL: not known. */
  readonly historyCompleteSince: string | null;
  readonly asOf: string | null;
  readonly since: string | null;
  readonly asOfIsInFuture: boolean;
  readonly sinceIsInFuture: boolean;
  /** Whether `asOf` is before `historyCompleteSince`. */
  readonly asOfIsTooEarly: boolean;
}

/** `2026-07-01T12:00:00.000000Z`. NULL for an infinite time. */
export const isoTime = (sql: string) => `to_char(${sql} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** Read through jsonb, because the views of an earlier version of simcat lack `history_complete_since`. */
const SELECT_STATE = `
SELECT ${isoTime("now()")} AS "exportedAt", ${isoTime("c.complete_as_of")} AS "completeAsOf",
  ${isoTime("m.history_complete_since")} AS "historyCompleteSince",
  ${isoTime("m.as_of")} AS "asOf", ${isoTime("m.since")} AS since,
  coalesce(m.as_of > now(), false) AS "asOfIsInFuture", coalesce(m.since > now(), false) AS "sinceIsInFuture",
  coalesce(m.as_of < m.history_complete_since, false) AS "asOfIsTooEarly"
FROM simcat_report.data_complete_as_of c
CROSS JOIN LATERAL (
  SELECT coalesce($1::timestamptz, now() - $2::float8 * interval '1 millisecond') AS as_of,
    coalesce($3::timestamptz, now() - $4::float8 * interval '1 millisecond') AS since,
    (to_jsonb(c) ->> 'history_complete_since')::timestamptz AS history_complete_since
) AS m`;

/** @throws UsageError for a moment in the future or before the history */
export async function readExportState(connection: Connection, asOfMoment: Moment | null, sinceMoment: Moment | null) {
  const values = [asOfMoment?.iso, asOfMoment?.agoMs, sinceMoment?.iso, sinceMoment?.agoMs];
  const state = oneRow(await connection.query<ExportState>(SELECT_STATE, values));
  const { asOf, since, exportedAt, historyCompleteSince } = state;
  const now = `by the database's clock it is ${exportedAt}`;
  if (state.asOfIsInFuture) throw new UsageError(`--as-of ${asOf} is in the future: ${now}`);
  if (state.sinceIsInFuture) throw new UsageError(`--since ${since} is in the future: ${now}`);
  if (!state.asOfIsTooEarly) return state;
  throw new UsageError(`--as-of ${asOf} is too early: the history is complete since ${historyCompleteSince}`, {
    hint: "choose that moment or a later one",
  });
}

import { type Connection, oneRow } from "../connect.ts";
import { isoTime } from "./export-columns.ts";

/** A moment: a time as ISO 8601 text, or a time before the transaction's. */
export type Moment = { readonly kind: "at"; readonly iso: string } | { readonly kind: "ago"; readonly agoMs: number };

/** The state of the copy, and the filters' moments, in the transaction of an export. ISO 8601 texts in UTC with microseconds. */
export interface ExportState {
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

export async function readExportState(
  connection: Connection,
  asOf: Moment | null,
  since: Moment | null,
): Promise<ExportState> {
  return oneRow(await connection.query<ExportState>(SELECT_STATE, [...toValues(asOf), ...toValues(since)]));
}

function toValues(moment: Moment | null): readonly [string | null, number | null] {
  if (moment === null) return [null, null];
  return moment.kind === "at" ? [moment.iso, null] : [null, moment.agoMs];
}

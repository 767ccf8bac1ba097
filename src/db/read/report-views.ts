import type { Connection } from "../connect.ts";

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
export async function readReportViews(connection: Connection): Promise<ReportView[]> {
  const { rows } = await connection.query<ReportView>(SELECT_VIEWS);
  return rows;
}

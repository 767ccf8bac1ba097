import type { ViewColumn } from "./report-views.ts";

/** The types of exported columns, under their names in SQL. */
export type ExportType =
  | "text"
  | "bigint"
  | "integer"
  | "boolean"
  | "timestamptz"
  | "date"
  | "jsonb"
  | "double precision"
  | "numeric";

export interface ExportColumn {
  readonly name: string;
  readonly type: ExportType;
  readonly comment: string | null;
  /** The expression in SQL that yields a value of this type. */
  readonly sql: string;
}

/** How times are read: as ISO 8601 texts in UTC, or as whole microseconds and days since 1970. */
export type TimeNotation = "iso" | "epoch";

const EXACT_TYPES: Readonly<Record<string, ExportType>> = {
  text: "text",
  bigint: "bigint",
  integer: "integer",
  smallint: "integer",
  boolean: "boolean",
  "timestamp with time zone": "timestamptz",
  date: "date",
  jsonb: "jsonb",
  json: "jsonb",
  "double precision": "double precision",
  real: "double precision",
  numeric: "numeric",
};

/**
 * The columns of an export of a view, in the view's order. An interval becomes its seconds, under the name `…_seconds`; it is
 * left out if the view has that column. Other types that no file format has become text.
 */
export function toExportColumns(columns: readonly ViewColumn[]): ExportColumn[] {
  const names = new Set(columns.map(({ name }) => name));
  return columns.flatMap(({ name, type, comment }): ExportColumn[] => {
    const sql = quoteIdentifier(name);
    const exact = EXACT_TYPES[type];
    if (exact !== undefined) return [{ name, type: exact, comment, sql }];
    if (type !== "interval") return [{ name, type: "text", comment, sql: `${sql}::text` }];
    const seconds = `${name}_seconds`;
    if (names.has(seconds)) return [];
    const inSeconds = comment === null ? "In seconds." : `${comment} In seconds.`;
    return [
      {
        name: seconds,
        type: "double precision",
        comment: inSeconds,
        sql: `extract(epoch FROM ${sql})::double precision`,
      },
    ];
  });
}

export const quoteIdentifier = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** `2026-07-01T12:00:00.000000Z`. NULL for an infinite time. */
export const isoTime = (sql: string) => `to_char(${sql} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** The expression whose text is read from the server. */
export function toSelectItem({ type, sql }: ExportColumn, times: TimeNotation): string {
  if (type === "boolean") return `${sql}::text`;
  if (type === "timestamptz") {
    return times === "iso"
      ? isoTime(sql)
      : `CASE WHEN isfinite(${sql}) THEN (extract(epoch FROM ${sql}) * 1000000)::bigint END`;
  }
  if (type === "date") {
    return times === "iso"
      ? `to_char(${sql}, 'YYYY-MM-DD')`
      : `CASE WHEN isfinite(${sql}) THEN ${sql} - DATE '1970-01-01' END`;
  }
  return sql;
}

import type { ExportColumn, ExportType } from "../db/read/export-columns.ts";
import type { TextRow } from "../db/read/stream-cursor.ts";
import type { ExportFormat } from "./export-format.ts";

/** In characters. */
const BUFFER_CHARS = 256 * 1024;

/** A format whose rows are lines of UTF-8 text. */
function createTextFormat(
  { extension, isSafe }: Pick<ExportFormat, "extension" | "isSafe">,
  header: (columns: readonly ExportColumn[]) => string,
  lineOf: (columns: readonly ExportColumn[]) => (row: TextRow) => string,
): ExportFormat {
  return {
    extension,
    isSafe,
    times: "iso",
    createEncoder({ columns, write }) {
      const toLine = lineOf(columns);
      let lines = header(columns);
      const end = () => {
        if (lines !== "") write(Buffer.from(lines, "utf8"));
        lines = "";
      };
      return {
        add(row) {
          lines += toLine(row);
          if (lines.length >= BUFFER_CHARS) end();
        },
        end,
      };
    },
  };
}

/**
 * CSV as in RFC 4180: a header, commas, CRLF. As in Postgres, a field is empty for NULL, and `""` for the empty text. `isSafe` puts an
 * apostrophe before texts that a spreadsheet would run as a formula.
 */
export const csvFormat = (isSafe: boolean): ExportFormat =>
  createTextFormat(
    { extension: "csv", isSafe },
    (columns) => toCsvLine(columns.map(({ name }) => toField(name))),
    (columns) => {
      const encoders = columns.map(({ type }) => (isSafe && !isNumeric(type) ? toSafeField : toField));
      return (row) => toCsvLine(row.map((value, at) => (value === null ? "" : (encoders[at] ?? toField)(value))));
    },
  );

const toCsvLine = (fields: readonly string[]) => `${fields.join(",")}\r\n`;

/** Spaces at either end are quoted, because some programs strip them. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$|^$/;

const toField = (value: string) => (NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

/** With East Asian settings, spreadsheets accept the full-width forms too. */
const FORMULA = /^[\t\r\n=+\-@＝＋－＠]/;

const toSafeField = (value: string) => toField(FORMULA.test(value) ? `'${value}` : value);

const NUMERIC: readonly ExportType[] = ["bigint", "integer", "double precision", "numeric"];
const isNumeric = (type: ExportType) => NUMERIC.includes(type);

/** One JSON object per line. Numbers have all their digits, and jsonb is embedded as Postgres prints it, without being parsed. */
export const jsonlFormat = createTextFormat(
  { extension: "jsonl", isSafe: false },
  () => "",
  (columns) => {
    const fields = columns.map(({ name, type }) => ({
      key: `${JSON.stringify(name)}:`,
      encode: isNumeric(type) || type === "boolean" || type === "jsonb" ? toToken : quote,
    }));
    return (row) => `{${fields.map(({ key, encode }, at) => key + encode(row[at] ?? null)).join(",")}}\n`;
  },
);

const quote = (value: string | null) => JSON.stringify(value);

/** The text of a value that is JSON as it is. JSON has no NaN and no infinity. */
function toToken(value: string | null): string {
  return value === null || /^-?(?:NaN|Infinity)$/.test(value) ? "null" : value;
}

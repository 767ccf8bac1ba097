import type { RowPrinter } from "../db/read/run-query.ts";
import type { ExportColumn, ExportType, TimeNotation } from "./plan-export.ts";

/** A file format. */
export interface ExportFormat {
  readonly extension: string;
  /** Whether cells that a spreadsheet would run as a formula are escaped. */
  readonly isSafe: boolean;
  readonly times: TimeNotation;
  /** Encodes the rows of one file. `end` writes everything that is not written yet. */
  createEncoder(options: EncoderOptions): RowPrinter;
}

export interface EncoderOptions {
  readonly columns: readonly Pick<ExportColumn, "name" | "type">[];
  /** The facts about the export, for the metadata of the file; null for one that is not known. */
  readonly stamp: Readonly<Record<string, string | null>>;
  readonly version: string;
  readonly write: (bytes: Uint8Array) => void;
}

/** In characters. */
const BUFFER_CHARS = 256 * 1024;

/** A format whose rows are lines of UTF-8 text. */
function createTextFormat(
  { extension, isSafe, hasHeader }: Pick<ExportFormat, "extension" | "isSafe"> & { readonly hasHeader: boolean },
  encoderOf: (column: EncoderOptions["columns"][number]) => (value: string | null) => string,
  toLine: (values: readonly string[]) => string,
): ExportFormat {
  return {
    extension,
    isSafe,
    times: "iso",
    createEncoder({ columns, write }) {
      const encoders = columns.map(encoderOf);
      let lines = hasHeader ? toLine(columns.map(({ name }) => toField(name))) : "";
      const end = () => {
        if (lines !== "") write(Buffer.from(lines, "utf8"));
        lines = "";
      };
      const add: RowPrinter["add"] = (row) => {
        lines += toLine(encoders.map((encode, at) => encode(row[at] ?? null)));
        if (lines.length >= BUFFER_CHARS) end();
      };
      return { add, end };
    },
  };
}

const NUMERIC: readonly ExportType[] = ["bigint", "integer", "double precision", "numeric"];

/**
 * CSV as in RFC 4180: a header, commas, CRLF. As in Postgres, a field is empty for NULL, and `""` for the empty text. `isSafe` puts an
 * apostrophe before texts that a spreadsheet would run as a formula.
 */
export const csvFormat = (isSafe: boolean): ExportFormat =>
  createTextFormat(
    { extension: "csv", isSafe, hasHeader: true },
    ({ type }) => {
      const encode = isSafe && !NUMERIC.includes(type) ? toSafeField : toField;
      return (value) => (value === null ? "" : encode(value));
    },
    (fields) => `${fields.join(",")}\r\n`,
  );

/** Spaces at either end are quoted, because some programs strip them. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$|^$/;

const toField = (value: string) => (NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

/** With East Asian settings, spreadsheets accept the full-width forms too. */
const FORMULA = /^[\t\r\n=+\-@＝＋－＠]/;

const toSafeField = (value: string) => toField(FORMULA.test(value) ? `'${value}` : value);

/** Types whose texts are JSON as they are. */
const JSON_TYPES: readonly ExportType[] = [...NUMERIC, "boolean", "jsonb"];

/** One JSON object per line. Numbers have all their digits, and jsonb is embedded as Postgres prints it, without being parsed. */
export const jsonlFormat = createTextFormat(
  { extension: "jsonl", isSafe: false, hasHeader: false },
  ({ name, type }) => {
    const key = JSON.stringify(name);
    const encode = JSON_TYPES.includes(type) ? toToken : JSON.stringify;
    return (value) => `${key}:${encode(value)}`;
  },
  (members) => `{${members.join(",")}}\n`,
);

/** JSON has no NaN and no infinity. */
const toToken = (value: string | null) => (value === null || /^-?(?:NaN|Infinity)$/.test(value) ? "null" : value);

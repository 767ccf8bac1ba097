import { createLineWriter, type ExportFormat } from "./row-encoder.ts";

/**
 * CSV as in RFC 4180: a header, commas, CRLF. As in Postgres, a field is empty for NULL, and `""` for the empty text. A field that
 * begins with `=` is not altered, although some spreadsheets run it as a formula.
 */
export const csvFormat: ExportFormat = {
  extension: "csv",
  times: "iso",
  createEncoder({ columns, write }) {
    const lines = createLineWriter(write);
    lines.add(toLine(columns.map(({ name }) => name)));
    return { add: (row) => lines.add(toLine(row)), end: lines.end };
  },
};

const toLine = (fields: readonly (string | null)[]) => `${fields.map(toField).join(",")}\r\n`;

/** Spaces at either end are quoted, because some programs strip them. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$|^$/;

function toField(value: string | null): string {
  if (value === null) return "";
  return NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

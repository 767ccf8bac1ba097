import type { ExportColumn, ExportType } from "../db/read/export-columns.ts";
import { createLineWriter, type ExportFormat } from "./row-encoder.ts";

/** One JSON object per line. Numbers have all their digits, and jsonb is embedded as Postgres prints it, without being parsed. */
export const jsonlFormat: ExportFormat = {
  extension: "jsonl",
  times: "iso",
  createEncoder({ columns, write }) {
    const lines = createLineWriter(write);
    const fields = columns.map(({ name, type }: ExportColumn) => ({
      key: `${JSON.stringify(name)}:`,
      encode: isToken(type) ? toToken : quote,
    }));
    return {
      add(row) {
        const pairs = fields.map(({ key, encode }, at) => key + encode(row[at] ?? null));
        lines.add(`{${pairs.join(",")}}\n`);
      },
      end: lines.end,
    };
  },
};

/** Whether a value's text is valid JSON as it is. */
const isToken = (type: ExportType) => type !== "text" && type !== "timestamptz" && type !== "date";

const quote = (value: string | null) => JSON.stringify(value);

/** JSON has no NaN and no infinity. */
function toToken(value: string | null): string {
  return value === null || /^-?(?:NaN|Infinity)$/.test(value) ? "null" : value;
}

import type { AnswerColumn, AnswerRow } from "../db/read/run-query.ts";
import { UsageError } from "../errors.ts";
import { type ExportFormat, jsonlFormat } from "../export/formats.ts";
import { formatCount, plural } from "../format.ts";
import { formatTable } from "./table.ts";

/** Prints the rows of an answer. Both functions get its columns, because it may have no row. */
export interface RowPrinter {
  row(row: AnswerRow, columns: readonly AnswerColumn[]): void;
  end(columns: readonly AnswerColumn[]): void;
}

/** Prints a text of one line or more; the last line's end is added. */
type Print = (text: string) => void;

/** The widths of a table depend on all of its rows, so it holds only so many. */
const MAX_TABLE_ROWS = 1_000;

/** A table for people, at most `width` wide. NULL is empty. `spare`: as in `TableColumn`, by the names of columns. */
export function tablePrinter(print: Print, width: number, spare: Readonly<Record<string, number>> = {}): RowPrinter {
  const cells: (readonly string[])[] = [];
  let count = 0;
  return {
    row(row) {
      if (cells.length < MAX_TABLE_ROWS) cells.push(row.map((value) => value ?? ""));
      count += 1;
    },
    end(columns) {
      const titles = columns.map(({ name }) => ({ title: name, spare: spare[name] ?? 0 }));
      if (cells.length > 0) print(formatTable(titles, cells, width));
      const rest = count - cells.length;
      const more = rest === 0 ? "" : `; ${formatCount(rest)} are not shown: --csv, --json or --jsonl prints all`;
      print(`(${plural(count, "row")}${more})`);
    },
  };
}

/** CSV or JSON Lines, as in `simcat export`. */
export const linePrinter = (print: Print, format: ExportFormat) =>
  encodedPrinter(format, (lines) => print(lines.slice(0, -1)));

/** One JSON array of objects, an object in each line. */
export function jsonPrinter(print: Print): RowPrinter {
  // Printed when it is known whether a comma follows.
  let last: string | null = null;
  const printer = encodedPrinter(jsonlFormat, (lines) => {
    const objects = lines.slice(0, -1).replaceAll("\n", ",\n");
    if (last !== null) print(`${last},`);
    last = last === null ? `[${objects}` : objects;
  });
  return {
    ...printer,
    end(columns) {
      printer.end(columns);
      print(`${last ?? "["}]`);
    },
  };
}

function encodedPrinter(format: ExportFormat, onLines: (lines: string) => void): RowPrinter {
  let encoder: ReturnType<ExportFormat["createEncoder"]> | undefined;
  const write = (bytes: Uint8Array) => onLines(Buffer.from(bytes).toString());
  const open = (columns: readonly AnswerColumn[]) => {
    if (format === jsonlFormat) assertDistinct(columns.map(({ name }) => name));
    const described = columns.map((column) => ({ ...column, comment: null, sql: "" }));
    encoder ??= format.createEncoder({ columns: described, stamp: {}, version: "", write });
    return encoder;
  };
  return {
    row: (row, columns) => (encoder ?? open(columns)).add(row),
    end: (columns) => (encoder ?? open(columns)).end(),
  };
}

/** @throws UsageError for two columns of one name, of which a JSON object would keep one */
function assertDistinct(names: readonly string[]): void {
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return;
  throw new UsageError(`two columns are named ${JSON.stringify(twice)}`, { hint: "rename one of them with AS" });
}

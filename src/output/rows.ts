import type { AnswerColumn, AnswerRow } from "../db/read/run-query.ts";
import { UsageError } from "../errors.ts";
import { csvFormat, type ExportFormat, jsonlFormat } from "../export/formats.ts";
import { formatCount, plural } from "../format.ts";
import { formatTable } from "./table.ts";

/** Prints the rows of an answer. `columns` is called once, before the first row; `end` after the last one. */
export interface RowPrinter {
  columns(columns: readonly AnswerColumn[]): void;
  row(row: AnswerRow): void;
  end(): void;
}

/** Prints a text of one line or more; the last line's end is added. */
type Print = (text: string) => void;

/** The widths of a table depend on all of its rows, so it holds only so many. */
const MAX_TABLE_ROWS = 1_000;

/** A table for people, at most `width` wide. NULL is empty. */
export function tablePrinter(print: Print, width: number): RowPrinter {
  let titles: readonly string[] = [];
  const cells: (readonly string[])[] = [];
  let count = 0;
  return {
    columns(columns) {
      titles = columns.map(({ name }) => name);
    },
    row(row) {
      if (cells.length < MAX_TABLE_ROWS) cells.push(row.map((value) => value ?? ""));
      count += 1;
    },
    end() {
      if (cells.length > 0) print(formatTable(titles, cells, width));
      const rest = count - cells.length;
      const more = rest === 0 ? "" : `; ${formatCount(rest)} are not shown: --csv, --json or --jsonl prints all`;
      print(`(${plural(count, "row")}${more})`);
    },
  };
}

/** CSV as in `simcat export`. */
export function csvPrinter(print: Print): RowPrinter {
  return encodedPrinter(csvFormat(false), (lines) => print(lines.slice(0, -1)));
}

/** One JSON object in each line. */
export function jsonlPrinter(print: Print): RowPrinter {
  return encodedPrinter(jsonlFormat, (lines) => print(lines.slice(0, -1)));
}

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
    end() {
      printer.end();
      print(`${last ?? "["}]`);
    },
  };
}

function encodedPrinter(format: ExportFormat, onLines: (lines: string) => void): RowPrinter {
  let encoder: ReturnType<ExportFormat["createEncoder"]> | undefined;
  const write = (bytes: Uint8Array) => onLines(Buffer.from(bytes).toString());
  return {
    columns(columns) {
      if (format === jsonlFormat) assertDistinct(columns.map(({ name }) => name));
      const described = columns.map((column) => ({ ...column, comment: null, sql: "" }));
      encoder = format.createEncoder({ columns: described, stamp: {}, version: "", write });
    },
    row: (row) => encoder?.add(row),
    end: () => encoder?.end(),
  };
}

/** @throws UsageError for two columns of one name, of which a JSON object would keep one */
function assertDistinct(names: readonly string[]): void {
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return;
  throw new UsageError(`two columns are named ${JSON.stringify(twice)}`, { hint: "rename one of them with AS" });
}

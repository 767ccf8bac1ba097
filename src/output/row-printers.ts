import type { AnswerColumn, RowPrinter } from "../db/read/run-query.ts";
import { UsageError } from "../errors.ts";
import { type ExportFormat, jsonlFormat } from "../export/formats.ts";
import { formatCount, plural } from "../format.ts";
import { formatTable } from "./table.ts";

/** The widths of a table depend on all of its rows, so it holds only so many. */
const MAX_TABLE_ROWS = 1_000;

/** A table for people, at most `width` wide. NULL is empty. `spare`: as in `TableColumn`, by the names of columns. */
export function createTablePrinter(
  columns: readonly AnswerColumn[],
  print: (text: string) => void,
  width: number,
  spare: Readonly<Record<string, number>>,
): RowPrinter {
  const cells: (readonly string[])[] = [];
  let count = 0;
  return {
    add(row) {
      if (cells.length < MAX_TABLE_ROWS) cells.push(row.map((value) => value ?? ""));
      count += 1;
    },
    end() {
      const titles = columns.map(({ name }) => ({ title: name, spare: spare[name] ?? 0 }));
      const table = cells.length === 0 ? "" : `${formatTable(titles, cells, width)}\n`;
      const rest = count - cells.length;
      const more = rest === 0 ? "" : `; ${formatCount(rest)} are not shown: --csv, --json or --jsonl prints all`;
      print(`${table}(${plural(count, "row")}${more})`);
    },
  };
}

/** `isArray`: as one JSON array. @throws UsageError for two columns of one name, of which a JSON object would keep one */
export function createLinePrinter(
  columns: readonly AnswerColumn[],
  print: (text: string) => void,
  format: ExportFormat,
  isArray: boolean,
): RowPrinter {
  const names = columns.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined && format === jsonlFormat)
    throw new UsageError(`two columns are named ${JSON.stringify(twice)}`, { hint: "rename one of them with AS" });
  let begin = "[";
  const write = (bytes: Uint8Array) => {
    const lines = Buffer.from(bytes).toString().slice(0, -1);
    print(isArray ? begin + lines.replaceAll("\n", ",\n") : lines);
    begin = ",";
  };
  const { add, end } = format.createEncoder({ columns, stamp: {}, version: "", write });
  return {
    add,
    end() {
      end();
      if (isArray) print(begin === "[" ? "[]" : "]");
    },
  };
}

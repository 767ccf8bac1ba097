import getStringWidth from "fast-string-truncated-width";
import { printable } from "../printable.ts";

export interface TableColumn {
  readonly title: string;
  /** Columns with this are left out before cells are cut, the highest number first. */
  readonly spare?: number;
  /** Colors a cell, padded to the column's width, unless the table is wider than the terminal. */
  readonly paint?: (cell: string) => string;
}

const COLUMN_GAP = 2;
/** The narrowest width to which texts are cut if the table is too wide. Numbers are never cut. */
const MIN_TEXT_WIDTH = 8;
const FORMATTED_NUMBER = /^[-+]?\d[\d,.]*(?: ?%)?$/;

/** No line is wider than `columns`: cells are cut with a …. Numbers are aligned to the right, and cells made printable. */
export function formatTable(
  titles: readonly (string | TableColumn)[],
  rows: readonly (readonly string[])[],
  columns: number,
): string {
  const all = titles.map((title, index) => toCells(typeof title === "string" ? { title } : title, rows, index));
  const kept = fitColumns(all, columns);
  const fits = totalOf(kept) <= columns;
  const lines = Array.from({ length: rows.length + 1 }, (_, line) =>
    kept
      .map(({ cells, width, right, paint }) => {
        const cell = pad(cells[line] ?? "", width, right);
        return paint && fits && line > 0 ? paint(cell) : cell;
      })
      .join(" ".repeat(COLUMN_GAP)),
  );
  return lines.map((line) => (fits ? line.trimEnd() : truncate(line.trimEnd(), columns))).join("\n");
}

type Cells = ReturnType<typeof toCells>;

/** `cells`: the title, then the cell of each row. */
function toCells(column: TableColumn, rows: readonly (readonly string[])[], index: number) {
  const body = rows.map((row) => printable(row[index] ?? ""));
  const cells = [column.title, ...body];
  const filled = body.filter((cell) => cell !== "");
  const right = filled.length > 0 && filled.every((cell) => FORMATTED_NUMBER.test(cell));
  return { ...column, cells, right, width: cells.reduce((widest, cell) => Math.max(widest, widthOf(cell)), 0) };
}

/** Leaves out spare columns, then narrows the widest text, until the table fits or every text has its least width. */
function fitColumns(all: readonly Cells[], columns: number): readonly Cells[] {
  // A text of megabytes is not narrowed one by one.
  for (const one of all) if (!one.right) one.width = Math.min(one.width, columns);
  let kept = all;
  while (totalOf(kept) > columns) {
    const [spare] = kept.filter((one) => one.spare).sort((a, b) => (b.spare ?? 0) - (a.spare ?? 0));
    const [widest] = kept.filter(({ right }) => !right).sort((a, b) => b.width - a.width);
    if (spare !== undefined) kept = kept.filter((one) => one !== spare);
    else if (widest !== undefined && widest.width > MIN_TEXT_WIDTH) widest.width -= 1;
    else break;
  }
  return kept;
}

const totalOf = (all: readonly Cells[]) => all.reduce((sum, { width }) => sum + width + COLUMN_GAP, -COLUMN_GAP);

function pad(cell: string, width: number, right: boolean): string {
  const text = truncate(cell, width);
  const blank = " ".repeat(width - widthOf(text));
  return right ? blank + text : text + blank;
}

/** The number of terminal columns that the text takes, without its colors. */
export const widthOf = (text: string): number => getStringWidth(text, {}, { controlWidth: 1 }).width;

/** The text, cut to this width and ended with a … if it is wider. */
export function truncate(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  // Created only now, because the first one takes long.
  const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
  for (const { segment } of graphemes.segment(text)) {
    if (widthOf(kept + segment) >= columns) break;
    kept += segment;
  }
  return columns > 0 ? `${kept}…` : "";
}

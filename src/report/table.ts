import { printable } from "../printable.ts";
import { truncate, widthOf } from "./width.ts";

export interface Column {
  readonly title: string;
  /** Where room is short its cells are cut, down to this many columns; unset: 8, and numbers not at all. */
  readonly min?: number;
  /** Where room is short it is left out before anything is cut, the highest number first. */
  readonly spare?: number;
}

const GAP = 2;
const SHORTEST = 8;
const NUMBER = /^[-+]?\d[\d,.]*(?: ?%)?$/;

/**
 * Rows under their titles, aligned, no line wider than `columns`; what does not fit is cut with a …. Numbers stand to the right.
 * Cells may hold anything: they are made printable here.
 */
export function formatTable(
  titles: readonly (string | Column)[],
  rows: readonly (readonly string[])[],
  columns: number,
): string {
  const all = titles.map((title, at) => toCells(typeof title === "string" ? { title } : title, rows, at));
  const kept = leaveOutSpare(all, columns);
  const widths = fitWidths(kept, columns);
  const lines = Array.from({ length: rows.length + 1 }, (_, line) =>
    kept.map(({ cells, right }, at) => pad(cells[line] ?? "", widths[at] ?? 0, right)).join(" ".repeat(GAP)),
  );
  return lines.map((line) => truncate(line.trimEnd(), columns)).join("\n");
}

interface Cells extends Column {
  /** The title and what stands under it. */
  readonly cells: readonly string[];
  readonly width: number;
  readonly right: boolean;
}

function toCells(column: Column, rows: readonly (readonly string[])[], at: number): Cells {
  const body = rows.map((row) => printable(row[at] ?? ""));
  const cells = [column.title, ...body];
  const filled = body.filter((cell) => cell !== "");
  const right = filled.length > 0 && filled.every((cell) => NUMBER.test(cell));
  return { ...column, cells, right, width: cells.reduce((widest, cell) => Math.max(widest, widthOf(cell)), 0) };
}

function leaveOutSpare(all: readonly Cells[], columns: number): readonly Cells[] {
  const most = Math.max(...all.map(({ spare = 0 }) => spare));
  if (most === 0 || totalOf(all.map(({ width }) => width)) <= columns) return all;
  return leaveOutSpare(
    all.filter(({ spare }) => spare !== most),
    columns,
  );
}

/** Cuts the widest column until everything fits, or until every column is as narrow as it may be. */
function fitWidths(all: readonly Cells[], columns: number): number[] {
  const widths = all.map(({ width }) => width);
  while (totalOf(widths) > columns) {
    const room = all.map(({ width, right, min = right ? width : SHORTEST }, at) =>
      (widths[at] ?? 0) > min ? (widths[at] ?? 0) : 0,
    );
    const widest = Math.max(0, ...room);
    if (widest === 0) break;
    const at = room.indexOf(widest);
    widths[at] = widest - 1;
  }
  return widths;
}

function totalOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, GAP * Math.max(0, widths.length - 1));
}

function pad(cell: string, width: number, right: boolean): string {
  const text = truncate(cell, width);
  const blank = " ".repeat(width - widthOf(text));
  return right ? blank + text : text + blank;
}

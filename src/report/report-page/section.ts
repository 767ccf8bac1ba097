import { max, sum } from "d3-array";
import { truncate } from "../../output/table.ts";
import { printable } from "../../printable.ts";
import { type BarPart, bar, type TimeStep } from "../charts.ts";
import { type Column, htmlTable } from "../html/elements.ts";
import { type Html, html, type Part } from "../html/html.ts";
import type { Facts } from "./facts.ts";

/**
 * A section of the report: the SQL of its rows, its heading and its figure. `SECTIONS` in report-page.ts lists all of them. `Rows` has
 * the type of a row for each query.
 */
export interface Section<Rows> {
  readonly id: string;
  /** Takes both columns of a wide screen. */
  readonly isWide?: boolean;
  /** SQL. The parameters are those of facts.ts. */
  readonly queries: Readonly<Record<keyof Rows, string>>;
  /** The heading, one sentence. Null: there is nothing to show. */
  readonly finding: (rows: FactsAnd<Rows>) => string | null;
  /** A picture and its numbers; null if the finding says everything. */
  readonly figure: (rows: FactsAnd<Rows>, finding: string) => Html | null;
}

export type FactsAnd<Rows> = Facts & { readonly [Name in keyof Rows]: readonly Rows[Name][] };

/** The numbers of a picture, for exact reading and for readers who do not see the picture. Paper has no room for them. */
export const numbersTable = <Row>(rows: readonly Row[], columns: readonly Column<Row>[], remark: Html | null = null) =>
  html`<details><summary>The numbers</summary>${remark}${htmlTable(rows, columns)}</details>`;

/** The counts of the steps of a column chart. An unknown step may have some, but no zero. */
export const countColumn = (title: string, key: string): Column<TimeStep> => [
  title,
  ({ counts, isKnown }) => counts[key] || (isKnown ? 0 : ""),
  "number",
];

/** A bar in each row, the longest one as wide as the column. */
export function barColumn<Row>(rows: readonly Row[], partsOf: (row: Row) => readonly BarPart[]): Column<Row> {
  const largest = max(rows, (row) => sum(partsOf(row), ({ value }) => value)) ?? 0;
  return ["", (row) => bar(partsOf(row), largest)];
}

/** A line below a picture; null if all parts are null. */
export const note = (...parts: readonly Part[]): Html | null =>
  parts.every((part) => part === null) ? null : html`<p class="soft">${parts}</p>`;

/** Names longer than this are cut. */
export const MAX_SHOWN_NAME = 48;

/** The name of an owner, in a heading. */
export const shortName = (name: string) => truncate(printable(name), MAX_SHOWN_NAME);

/** A rounded share. Only an exact 0 or 100 % is printed as such. */
export const formatPercent = (part: number, whole: number) => {
  const share = whole === 0 ? 0 : (100 * part) / whole;
  if (share > 0 && share < 1) return "under 1 %";
  return share > 99 && share < 100 ? "over 99 %" : `${Math.round(share)} %`;
};

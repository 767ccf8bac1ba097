import { plural } from "../../format.ts";
import { type Column, htmlTable } from "../html/elements.ts";
import { type Html, html, type Part } from "../html/html.ts";
import type { Facts, Query } from "./facts.ts";

/** A section of the report: the SQL of its rows, its heading and its figure. `SECTIONS` in report-page.ts lists all of them. */
export interface Section<Queries extends QueriesByName> {
  readonly id: string;
  /** Takes both columns of a wide screen. */
  readonly isWide?: boolean;
  /** Each has the name of its rows. */
  readonly queries: Queries;
  /** The heading, one sentence. Null: there is nothing to show. */
  readonly finding: (rows: Facts & RowsOf<Queries>) => string | null;
  /** A picture and its numbers; null if the finding says everything. */
  readonly figure: (rows: Facts & RowsOf<Queries>, finding: string) => Html | null;
}

export type QueriesByName = Readonly<Record<string, Query<object>>>;

export type RowsOf<Queries extends QueriesByName> = {
  readonly [Name in keyof Queries]: Awaited<ReturnType<Queries[Name]>>;
};

/** Infers the types of a section from its queries. */
export const declareSection = <Queries extends QueriesByName>(section: Section<Queries>) => section;

/** The numbers of a picture, for exact reading and for readers who do not see the picture. Paper has no room for them. */
export const numbersTable = <Row>(rows: readonly Row[], columns: readonly Column<Row>[], remark: Html | null = null) =>
  html`<details><summary>The numbers</summary>${remark}${htmlTable(rows, columns)}</details>`;

/** A line below a picture; null if all parts are null. */
export const note = (...parts: readonly Part[]): Html | null =>
  parts.every((part) => part === null) ? null : html`<p class="soft">${parts}</p>`;

/** `1 library`, `1,234 libraries`. */
export const formatLibraryCount = (count: number) => plural(count, "library", "libraries");

/** A rounded share. Only an exact 0 or 100 % is printed as such. */
export const formatPercent = (part: number, whole: number) => {
  const share = whole === 0 ? 0 : (100 * part) / whole;
  if (share > 0 && share < 1) return "under 1 %";
  return share > 99 && share < 100 ? "over 99 %" : `${Math.round(share)} %`;
};

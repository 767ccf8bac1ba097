import { plural } from "../../format.ts";
import { type Column, htmlTable } from "../html/elements.ts";
import { type Html, html, type Part } from "../html/html.ts";

/** A section of the report. Its heading is the finding, one sentence; its body is a chart and the numbers of the chart. */
export interface Section {
  readonly id: string;
  readonly finding: string;
  /** Takes both columns of a wide screen. */
  readonly isWide?: boolean;
  readonly body: Html;
}

export function formatSection({ id, finding, isWide = false, body }: Section): Html {
  return html`<section id="${id}"${isWide ? html` class="wide"` : null}><h2>${finding.replaceAll(" %", "\u00a0%")}</h2>
${body}
</section>
`;
}

/** The numbers of a chart, for exact reading and for readers who do not see the chart. Paper has no room for them. */
export function numbersTable(
  columns: readonly Column[],
  rows: readonly (readonly Part[])[],
  remark: Html | null = null,
): Html {
  return html`<details><summary>The numbers</summary>${remark}${htmlTable(columns, rows)}</details>`;
}

/** A line below a picture; null if all parts are null. */
export const note = (...parts: readonly Part[]): Html | null =>
  parts.every((part) => part === null) ? null : html`<p class="soft">${parts}</p>`;

/** Items that are not drawn, because they are many and not comparable with one: `12 other owners`. */
export const formatOthers = (count: number) => plural(count, "other owner");

/** A rounded share. Only an exact 0 or 100 % is printed as such. */
export const formatPercent = (part: number, whole: number) => {
  const share = whole === 0 ? 0 : (100 * part) / whole;
  if (share > 0 && share < 1) return "under 1 %";
  return share > 99 && share < 100 ? "over 99 %" : `${Math.round(share)} %`;
};

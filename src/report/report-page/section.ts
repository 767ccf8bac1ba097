import { plural } from "../../format.ts";
import { type Column, htmlTable } from "../html/elements.ts";
import { type Html, html, type Part } from "../html/html.ts";

/** A section of the report. Its heading is the finding, one sentence; its body is a chart and the numbers of the chart. */
export interface Section {
  readonly id: string;
  readonly finding: string;
  readonly body: Html;
}

export function formatSection({ id, finding, body }: Section): Html {
  return html`<section id="${id}"><h2>${finding}</h2>
${body}
</section>
`;
}

/** The numbers of a chart, for exact reading and for readers who do not see the chart. */
export function numbersTable(columns: readonly Column[], rows: readonly (readonly Part[])[]): Html {
  return html`<details><summary>The numbers</summary>${htmlTable(columns, rows)}</details>`;
}

export const note = (...parts: readonly Part[]): Html => html`<p class="soft">${parts}</p>`;

/** The label of the last bar, which sums up the items that are not drawn: `12 others`. */
export const formatOthers = (count: number) => plural(count, "other");

/** A rounded share. Only an exact 0 or 100 % is printed as such. */
export const formatPercent = (part: number, whole: number) => {
  const share = whole === 0 ? 0 : (100 * part) / whole;
  if (share > 0 && share < 1) return "under 1 %";
  return share > 99 && share < 100 ? "over 99 %" : `${Math.round(share)} %`;
};

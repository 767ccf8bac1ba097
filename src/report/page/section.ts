import { plural } from "../amounts.ts";
import { type Html, html, type Part } from "../html/html.ts";
import { type Column, htmlTable } from "../html/table.ts";

/** A picture and the numbers behind it, under the sentence that says what they show. */
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

/** What the picture shows, to be read by who wants it exactly, or does not see the picture. */
export function numbers(columns: readonly Column[], rows: readonly (readonly Part[])[]): Html {
  return html`<details><summary>The numbers</summary>${htmlTable(columns, rows)}</details>`;
}

export const remark = (...parts: readonly Part[]): Html => html`<p class="soft">${parts}</p>`;

/** For what stands last in a chart, and is the sum of those not shown. */
export const othersOf = (count: number) => plural(count, "other");

export const percent = (part: number, whole: number) => {
  const share = whole === 0 ? 0 : (100 * part) / whole;
  if (share > 0 && share < 1) return "under 1 %";
  return share > 99 && share < 100 ? "over 99 %" : `${Math.round(share)} %`;
};

const SPANS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/** `7 days`, `36 hours`. */
export function inWords(ms: number): string {
  const [unit, size] = SPANS.find(([, size]) => ms % size === 0) ?? ["millisecond", 1];
  return plural(ms / size, unit);
}

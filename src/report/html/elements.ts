import { formatCount, plural } from "../../format.ts";
import type { LibraryKey } from "../../model.ts";
import { printable } from "../../printable.ts";
import { type Html, html, type Part } from "./html.ts";

/** HTML elements that several pages use. */

/**
 * Text from outside. It is isolated, so that its writing direction does not affect the text after it, and control and
 * direction marks are shown as escapes. A longer text is cut after `maxChars`, with more of it in the tooltip.
 */
export function foreignText(text: string, maxChars = 120): Html {
  const characters = [...printable(text)];
  if (characters.length <= maxChars) return html`<bdi>${characters.join("")}</bdi>`;
  const more = characters.slice(0, 20 * maxChars).join("");
  return html`<bdi title="${more}">${characters.slice(0, maxChars).join("")}…</bdi>`;
}

/** An error says at its end what to do, so it is shown in full. The limit only bounds the page. */
export const errorText = (text: string) => foreignText(text, 5_000);

/** `owner/name`, with both parts isolated. */
export function libraryName({ owner, name }: LibraryKey): Html {
  return html`${foreignText(owner)}/${foreignText(name)}`;
}

/** A figure with its title, for a `<dl class="cards">`. */
export function card(title: string, value: Part, detail: Part): Html {
  return html`<div><dt>${title}</dt><dd>${value}${detail === null ? null : html`<small>${detail}</small>`}</dd></div>\n`;
}

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => Part;
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean;
}

export const column = <Row>(title: string, of: (row: Row) => Part): Column<Row> => ({ title, of });

/** A column of numbers, or of texts that are made of them. */
export const numbers = <Row>(title: string, of: (row: Row) => number | string): Column<Row> => ({
  title,
  isNumber: true,
  of(row) {
    const value = of(row);
    return typeof value === "number" ? formatCount(value) : value;
  },
});

/** A table. If it has more than three columns, each row becomes a card on a phone, where each value has its column's title. */
export function htmlTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Html {
  const classOf = ({ isNumber }: Column<Row>) => (isNumber ? html` class="number"` : null);
  const heads = columns.map((one) => html`<th scope="col"${classOf(one)}>${one.title}</th>`);
  const body = rows.map((row) => {
    const cells = columns.map((one) => {
      const value = one.of(row);
      // On a phone an empty cell is left out.
      const content = value === "" ? null : html`<span>${value}</span>`;
      return html`<td${classOf(one)} data-title="${one.title}">${content}</td>`;
    });
    return html`<tr>${cells}</tr>\n`;
  });
  const isWide = columns.length > 3 ? html` class="cards-on-phones"` : null;
  return html`<table${isWide}><thead><tr>${heads}</tr></thead><tbody>\n${body}</tbody></table>`;
}

export interface FailingLibrary extends LibraryKey {
  readonly failures: number;
  readonly openRejects?: number;
  readonly lastGoodAt: Date | null;
  readonly lastError: string | null;
}

/** Libraries whose last read failed or has rejects, with the whole errors. `rest`: where to find those that are not listed. */
export function failingList(
  libraries: readonly FailingLibrary[],
  total: number,
  formatTime: (at: Date | null) => Html,
  rest: string,
): Html {
  const items = libraries.map(({ failures, openRejects = 0, lastGoodAt, lastError, ...key }) => {
    const failed = failures === 1 ? "failed once" : `failed ${formatCount(failures)} times in a row`;
    const counts = [failures > 0 ? failed : "", openRejects > 0 ? plural(openRejects, "open reject") : ""];
    const error = lastError === null ? null : html`<p>${errorText(lastError)}</p>`;
    return html`<li>${libraryName(key)} <small>${counts.filter(Boolean).join(", ")}; last good copy: ${formatTime(lastGoodAt)}</small>${error}</li>\n`;
  });
  const left = total - libraries.length;
  return html`<ul class="items">${items}</ul>${left > 0 ? html`<p class="soft">… and ${formatCount(left)} more; see ${rest}.</p>` : null}`;
}

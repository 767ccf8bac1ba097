import { type Html, html, type Part } from "./html.ts";

export interface Column {
  readonly title: string;
  /** Numbers stand under each other, on the right. */
  readonly isNumber?: boolean;
}

/** A table that becomes a list of cards on a phone, where each value carries its column's title. */
export function htmlTable(columns: readonly Column[], rows: readonly (readonly Part[])[]): Html {
  const kind = ({ isNumber }: Column) => (isNumber ? html` class="number"` : null);
  const heads = columns.map((column) => html`<th scope="col"${kind(column)}>${column.title}</th>`);
  const body = rows.map((row) => {
    const cells = columns.map((column, at) => {
      const value = row[at] ?? "";
      // A phone leaves out the cells that hold nothing at all.
      const content = value === "" ? null : html`<span>${value}</span>`;
      return html`<td${kind(column)} data-title="${column.title}">${content}</td>`;
    });
    return html`<tr>${cells}</tr>\n`;
  });
  return html`<table><thead><tr>${heads}</tr></thead><tbody>\n${body}</tbody></table>`;
}

import { group } from "d3-array";
import { scaleUtc } from "d3-scale";
import type { FailingLibrary } from "../../db/read/read-status.ts";
import { formatCount, formatLibraries, plural } from "../../format.ts";
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

/** A figure with its title and lines of details, for a `<dl class="cards">`. */
export function card(title: string, value: Part, ...details: readonly Part[]): Html {
  const lines = details.filter((line) => line !== null).map((line, index) => [index === 0 ? null : html`<br>`, line]);
  return html`<div><dt>${title}</dt><dd>${value}${lines.length === 0 ? null : html`<small>${lines}</small>`}</dd></div>\n`;
}

/** A column of a table. Numbers, and texts that are made of them, are aligned to the right. */
export type Column<Row> = readonly [title: string, cellOf: (row: Row) => Part, kind?: "number"];

/** A table. If it has more than three columns, each row becomes a card on a phone, where each value has its column's title. */
export function htmlTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Html {
  const classOf = (kind: Column<Row>[2]) => (kind === undefined ? null : html` class="${kind}"`);
  const heads = columns.map(([title, , kind]) => html`<th scope="col"${classOf(kind)}>${title}</th>`);
  const body = rows.map((row) => {
    const cells = columns.map(([title, cellOf, kind]) => {
      const value = cellOf(row);
      const text = typeof value === "number" ? formatCount(value) : value;
      // On a phone an empty cell is left out.
      const content = text === "" ? null : html`<span>${text}</span>`;
      return html`<td${classOf(kind)} data-title="${title}">${content}</td>`;
    });
    return html`<tr>${cells}</tr>\n`;
  });
  const isWide = columns.length > 3 ? html` class="cards-on-phones"` : null;
  return html`<table${isWide}><thead><tr>${heads}</tr></thead><tbody>\n${body}</tbody></table>`;
}

/** A list; an item is its first line, and the others in paragraphs below it. Null is left out. */
export function listOf(items: readonly (readonly Part[])[]): Html {
  const drawn = items.map(([first = null, ...lines]) => {
    return html`<li>${first}${lines.map((line) => (line === null ? null : html`<p>${line}</p>`))}</li>\n`;
  });
  return html`<ul class="items">${drawn}</ul>`;
}

type UnshownTime = "lastFailedAt" | "bookmarkSeenAt" | "removalHeldAt";
export type ShownFailure = Omit<FailingLibrary, UnshownTime> & { readonly openRejects?: number };

/**
 * Libraries whose last read failed or has rejects, with the whole errors. Libraries with the same error are one item.
 * @param rest where to find those that are not listed, such as `; see simcat status`
 */
export function failingList(libraries: readonly ShownFailure[], total: number, rest = "", formatTime = timeOf): Html {
  const formatOne = (library: ShownFailure) => {
    const { failures, openRejects = 0, lastSuccessAt } = library;
    const failed = failures === 1 ? "failed once" : `failed ${formatCount(failures)} times in a row`;
    const counts = [failures > 0 ? failed : "", openRejects > 0 ? plural(openRejects, "open reject") : ""];
    return html`${libraryName(library)} <small>${counts.filter(Boolean).join(", ")}; last good copy: ${formatTime(lastSuccessAt)}</small>`;
  };
  const groups = group(libraries, (library) => library.reason ?? library);
  const items = [...groups.values()].map((group) => {
    const [{ lastError = null, reason, alike = group.length } = {}] = group;
    if (group.length === 1) return [...group.map(formatOne), lastError && errorText(lastError)];
    return [html`${formatLibraries(alike)}: ${errorText(reason ?? "")}`, ...group.map(formatOne)];
  });
  const left = total - libraries.length;
  return html`${listOf(items)}${left > 0 ? html`<p class="soft">… and ${formatCount(left)} more${rest}.</p>` : null}`;
}

/** Times for people. A page names the zone UTC once. Times are absolute first, because a page may be read a week later. */

/** d3's names of months are English on every system. */
export const formatWith = (specifier: string): ((time: Date) => string) => scaleUtc().tickFormat(0, specifier);

/** `20 Nov 2026`. */
export const formatDay = formatWith("%-d %b %Y");
/** `20 Nov 2026, 14:15`. */
export const formatMinute = formatWith("%-d %b %Y, %H:%M");

/** `20 Nov 2026, 14:15`; `never` for null. */
export function timeOf(at: Date | null): Html {
  return at === null ? html`never` : html`<time datetime="${at.toISOString()}">${formatMinute(at)}</time>`;
}

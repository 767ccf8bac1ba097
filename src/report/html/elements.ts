import { group } from "d3-array";
import { scaleUtc } from "d3-scale";
import { formatAgo, formatCount, formatLibraries, plural } from "../../format.ts";
import type { LibraryKey } from "../../model.ts";
import { printable } from "../../printable.ts";
import type { RunStatus } from "../../run-summary.ts";
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

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => Part;
  /** Numbers are aligned to the right. */
  readonly isNumber: boolean;
}

export const column = <Row>(title: string, of: Column<Row>["of"]): Column<Row> => ({ title, of, isNumber: false });

/** A column of numbers, or of texts that are made of them. */
export const numbers = <Row>(title: string, of: Column<Row>["of"]): Column<Row> => ({ title, of, isNumber: true });

/** A table. If it has more than three columns, each row becomes a card on a phone, where each value has its column's title. */
export function htmlTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): Html {
  const classOf = ({ isNumber }: Column<Row>) => (isNumber ? html` class="number"` : null);
  const heads = columns.map((one) => html`<th scope="col"${classOf(one)}>${one.title}</th>`);
  const body = rows.map((row) => {
    const cells = columns.map((one) => {
      const value = one.of(row);
      const text = typeof value === "number" ? formatCount(value) : value;
      // On a phone an empty cell is left out.
      const content = text === "" ? null : html`<span>${text}</span>`;
      return html`<td${classOf(one)} data-title="${one.title}">${content}</td>`;
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

export interface FailingLibrary extends LibraryKey {
  readonly failures: number;
  readonly openRejects?: number;
  /** Of the last whole read. */
  readonly lastSuccessAt: Date | null;
  readonly lastError: string | null;
  /** The error without the name of the library. */
  readonly reason?: string | null;
  /** How many libraries fail for this reason, those included that are not listed. */
  readonly alike?: number;
}

/**
 * Libraries whose last read failed or has rejects, with the whole errors. Libraries with the same error are one item.
 * @param rest where to find those that are not listed, such as `; see simcat status`
 */
export function failingList(libraries: readonly FailingLibrary[], total: number, rest = "", formatTime = timeOf): Html {
  const formatOne = (library: FailingLibrary) => {
    const { failures, openRejects = 0, lastSuccessAt } = library;
    const failed = failures === 1 ? "failed once" : `failed ${formatCount(failures)} times in a row`;
    const counts = [failures > 0 ? failed : "", openRejects > 0 ? plural(openRejects, "open reject") : ""];
    return html`${libraryName(library)} <small>${counts.filter(Boolean).join(", ")}; last good copy: ${formatTime(lastSuccessAt)}</small>`;
  };
  const groups = group(libraries, (library) => library.reason ?? library);
  const items = [...groups.values()].map((group) => {
    const [{ lastError = null, reason, alike = group.length } = {}] = group;
    const error = (text: string | null) => text && errorText(text);
    if (group.length === 1) return [...group.map(formatOne), error(lastError)];
    return [html`${formatLibraries(alike)}: ${error(reason ?? "")}`, ...group.map(formatOne)];
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

/** The time and, for a page that is read at `now`, the time since. */
export function timeAndAge(at: Date | null, now: Date): Html {
  return html`${timeOf(at)}${at === null ? null : html` <small class="nowrap">${formatAgo(at, now)}</small>`}`;
}

const MINUTE = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" } as const;

/** `20 Nov 2026, 14:15 CET`. */
export function zonedTime(at: Date, timeZone: string): Html {
  const text = at.toLocaleString("en-GB", { ...MINUTE, timeZone, timeZoneName: "short" });
  return html`<time datetime="${at.toISOString()}">${text}</time>`;
}

/** A label with a color and a shape. The shape distinguishes the variants without color. */
export interface StatusBadge {
  readonly variant: "ok" | "partial" | "held" | "failed" | "neutral" | "running";
  readonly label: string;
}

/** Path data in a box of 10 by 10. */
const SHAPES: Readonly<Record<StatusBadge["variant"], string>> = {
  ok: "M5 .5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9z",
  partial: "M5 .5L9.8 9.3H.2z",
  held: "M.8.8h8.4v8.4H.8z",
  failed: "M2.2.4L5 3.2 7.8.4 9.6 2.2 6.8 5 9.6 7.8 7.8 9.6 5 6.8 2.2 9.6.4 7.8 3.2 5 .4 2.2z",
  neutral: "M5 .2L9.8 5 5 9.8.2 5z",
  running: "M1.5.5L9.5 5l-8 4.5z",
};

const STOPPED: readonly RunStatus[] = ["interrupted", "lost_lease", "abandoned"];

export function badgeOf(status: RunStatus): StatusBadge {
  const label = status.replaceAll("_", " ");
  if (status === "ok" || status === "partial" || status === "held" || status === "running")
    return { variant: status, label };
  return { variant: STOPPED.includes(status) ? "neutral" : "failed", label };
}

/** The shape, at a position of an enclosing SVG. */
export function shapeAt(variant: StatusBadge["variant"], x: number, y: number, size: number): Html {
  return html`<path class="state-${variant}" transform="translate(${x} ${y}) scale(${size / 10})" d="${SHAPES[variant]}"/>`;
}

/** The shape and the label, for a line of text. */
export function formatBadge({ variant, label }: StatusBadge): Html {
  const shape = html`<svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">${shapeAt(variant, 0, 0, 10)}</svg>`;
  return html`<span class="nowrap state-${variant}">${shape} ${label}</span>`;
}

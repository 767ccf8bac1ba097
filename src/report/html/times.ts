import { scaleUtc } from "d3-scale";
import { formatAgo } from "../../format.ts";
import { type Html, html } from "./html.ts";

/** Times for people. A page names the zone UTC once. Times are absolute first, because a page may be read a week later. */

/** d3's names of months are English on every system. */
const formatWith = (specifier: string): ((time: Date) => string) => scaleUtc().tickFormat(0, specifier);

/** `20 Nov 2026`. */
export const formatDay = formatWith("%-d %b %Y");
/** `20 Nov 2026, 14:15`. */
export const formatMinute = formatWith("%-d %b %Y, %H:%M");
/** `November 2026`. */
export const formatMonth = formatWith("%B %Y");

/** `20 Nov 2026, 14:15`; `never` for null. */
export function timeOf(at: Date | null): Html {
  return at === null ? html`never` : html`<time datetime="${at.toISOString()}">${formatMinute(at)}</time>`;
}

/** The time and, for a page that is read at `now`, the time since. */
export function timeAndAge(at: Date | null, now: Date): Html {
  return html`${timeOf(at)}${at === null ? null : html` <small class="nowrap">${formatAgo(at, now)}</small>`}`;
}

/** `20 Nov 2026, 14:15 CET`. */
export function zonedTime(at: Date, timezone = "UTC"): Html {
  const text = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: timezone }).format(
    at,
  );
  const zone = new Intl.DateTimeFormat("en-GB", { timeZone: timezone, timeZoneName: "short" })
    .formatToParts(at)
    .find(({ type }) => type === "timeZoneName");
  return html`<time datetime="${at.toISOString()}">${text} ${zone?.value ?? timezone}</time>`;
}

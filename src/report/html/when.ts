import { formatAgo, formatInstant } from "../moments.ts";
import { type Html, html } from "./html.ts";

/** `3 min ago`, with the moment itself in the tooltip; `never` for null. */
export function ago(at: Date | null, now: Date): Html {
  if (at === null) return html`never`;
  return html`<time datetime="${at.toISOString()}" title="${formatInstant(at)}">${formatAgo(at, now)}</time>`;
}

/** `20 Nov 2026, 14:15 CET`, as people of that zone write it. */
export function localMoment(at: Date, timezone: string): Html {
  const text = new Intl.DateTimeFormat("en-GB", {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: timezone,
  }).format(at);
  const zone = new Intl.DateTimeFormat("en-GB", { timeZone: timezone, timeZoneName: "short" })
    .formatToParts(at)
    .find(({ type }) => type === "timeZoneName");
  return html`<time datetime="${at.toISOString()}">${text} ${zone?.value ?? timezone}</time>`;
}

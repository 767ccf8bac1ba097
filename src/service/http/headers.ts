import type { IncomingHttpHeaders } from "node:http";
import { DAY_MS } from "../../units.ts";

/** No cache keeps a response for longer. */
const LONGEST_AGE_MS = 365 * DAY_MS;

/** A header's value; repeated ones are joined as RFC 9110 allows. Null if it is absent. */
export function header(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  if (value === undefined) return null;
  return Array.isArray(value) ? value.join(", ") : value;
}

/** The `Date` of a response in milliseconds since the epoch; null if it is absent or malformed. */
export function readDate(headers: IncomingHttpHeaders): number | null {
  return parseHttpDate(header(headers, "date") ?? "");
}

/**
 * How long a cache has held the response, in milliseconds: 0 without `Age`, the longest of several, infinite (unknown) if one is
 * malformed or over a year.
 */
export function cachedMs(headers: IncomingHttpHeaders): number {
  const ages = (header(headers, "age") ?? "0").split(",").map((age) => age.trim());
  if (!ages.every((age) => /^\d+(\.\d*)?$/.test(age))) return Number.POSITIVE_INFINITY;
  const longest = Math.max(...ages.map(Number)) * 1000;
  return longest > LONGEST_AGE_MS ? Number.POSITIVE_INFINITY : longest;
}

/**
 * The delay that a Retry-After header requests: whole seconds, or a date, which is compared with the response's own
 * `Date` if there is one, because the local clock may be wrong. Null if it is malformed, negative, zero or past.
 */
export function parseRetryAfter(value: string | null, date: string | null, now: number): number | null {
  if (value === null) return null;
  const seconds = /^\s*(\d+)\s*$/.exec(value)?.[1];
  const until = parseHttpDate(value);
  const from = (date === null ? null : parseHttpDate(date)) ?? now;
  const waitMs = seconds === undefined ? (until ?? from) - from : Number(seconds) * 1000;
  return waitMs > 0 ? waitMs : null;
}

const LINK_PARAMETER = /;\s*([^\s=;,"]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^\s;,]*))?/g;

/** True if a `Link` header has a next page: `<…>; rel="next"`, quoted or not, in any case, alone or among others. */
export function hasNextPage(link: string): boolean {
  if (link === "") return false;
  const parameters = link.replace(/<[^>]*>/g, "<>");
  for (const [, name = "", value = ""] of parameters.matchAll(LINK_PARAMETER)) {
    if (name.toLowerCase() !== "rel") continue;
    const relations = value.replace(/["']/g, "").toLowerCase().split(/\s+/);
    if (relations.includes("next")) return true;
  }
  return false;
}

/** Milliseconds since the epoch; null if the text is not of the form `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7). */
export function parseHttpDate(text: string): number | null {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) || date.toUTCString() !== text ? null : date.getTime();
}

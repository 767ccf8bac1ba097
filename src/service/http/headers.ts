import type { IncomingHttpHeaders } from "node:http";

/** A header's value; repeated ones are joined as RFC 9110 allows. Null if it is absent. */
export function header(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  if (value === undefined) return null;
  return Array.isArray(value) ? value.join(", ") : value;
}

/** The `Date` of a response in milliseconds since the epoch; null if it is absent or malformed. */
export function dateOf(headers: IncomingHttpHeaders): number | null {
  return parseHttpDate(header(headers, "date") ?? "", Date.now());
}

/** How long a cache has held the response, in milliseconds: 0 without `Age`, infinite if `Age` is malformed. */
export function cachedMs(headers: IncomingHttpHeaders): number {
  const age = (header(headers, "age") ?? "").trim();
  return /^\d*$/.test(age) ? Number(age) * 1000 : Number.POSITIVE_INFINITY;
}

/**
 * The delay that a Retry-After header requests: whole seconds, or a date, which is compared with the response's own
 * `Date` if there is one, because the local clock may be wrong. Null if it is malformed, negative, zero or past.
 */
export function parseRetryAfter(value: string | null, date: string | null, now: number): number | null {
  if (value === null) return null;
  const seconds = /^\s*(\d+)\s*$/.exec(value)?.[1];
  const until = parseHttpDate(value, now);
  const from = (date === null ? null : parseHttpDate(date, now)) ?? now;
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

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `Sun, 06 Nov 1994 08:49:37 GMT`, and the two obsolete formats that a recipient must accept (RFC 9110, 5.6.7). */
const HTTP_DATE_FORMATS = [
  /^\w{3}, (?<day>\d{2}) (?<month>\w{3}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^\w{6,9}, (?<day>\d{2})-(?<month>\w{3})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^\w{3} (?<month>\w{3}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/,
];

/** A year of two digits that would be more than fifty years ahead is in the past. */
function fullYear(digits: string, now: number): number {
  if (digits.length === 4) return Number(digits);
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}

/**
 * Milliseconds since the epoch; null if the text is not an HTTP date. `Date.parse` accepts too much, and reads one of the
 * formats as local time.
 */
export function parseHttpDate(text: string, now: number): number | null {
  for (const format of HTTP_DATE_FORMATS) {
    const { day = "", month = "", year = "", time = "" } = format.exec(text.trim())?.groups ?? {};
    const index = MONTHS.indexOf(month);
    if (index === -1) continue;
    const [hours = 0, minutes = 0, seconds = 0] = time.split(":").map(Number);
    const date = new Date(Date.UTC(fullYear(year, now), index, Number(day), hours, minutes, seconds));
    return hours < 24 && minutes < 60 && seconds < 61 && date.getUTCMonth() === index ? date.getTime() : null;
  }
  return null;
}

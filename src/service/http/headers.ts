import type { IncomingHttpHeaders } from "node:http";
import { parseHttpDate } from "./http-date.ts";

/** A header's value, repeated ones joined as RFC 9110 allows; null without one. */
export function header(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  if (value === undefined) return null;
  return Array.isArray(value) ? value.join(", ") : value;
}

/** The last one read: a second's answers all carry the same. */
let latest: { readonly text: string; readonly at: number | null } = { text: "", at: null };

/** The answer's `Date`; null without one that can be read. */
export function dateOf(headers: IncomingHttpHeaders): number | null {
  const text = header(headers, "date") ?? "";
  if (text !== latest.text) latest = { text, at: parseHttpDate(text, Date.now()) };
  return latest.at;
}

/** For how long a cache had held the answer, in ms: 0 when none answered, without end when its `Age` cannot be read. */
export function cachedMs(headers: IncomingHttpHeaders): number {
  const age = (header(headers, "age") ?? "").trim();
  return /^\d*$/.test(age) ? Number(age) * 1000 : Number.POSITIVE_INFINITY;
}

export const wasCached = (headers: IncomingHttpHeaders): boolean => cachedMs(headers) > 0;

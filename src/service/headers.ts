import type { IncomingHttpHeaders } from "node:http";
import { parseHttpDate } from "./http-date.ts";

/** A header's value, repeated ones joined as RFC 9110 allows; null without one. */
export function header(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  if (value === undefined) return null;
  return Array.isArray(value) ? value.join(", ") : value;
}

/** The answer's `Date`; null without one that can be read. */
export function dateOf(headers: IncomingHttpHeaders): number | null {
  return parseHttpDate(header(headers, "date") ?? "", Date.now());
}

/** `Age` above zero: a cache answered. One that cannot be read counts as such, which costs another read and no more. */
export function wasCached(headers: IncomingHttpHeaders): boolean {
  return !/^\s*0*\s*$/.test(header(headers, "age") ?? "");
}

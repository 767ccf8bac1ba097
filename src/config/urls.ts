import { parseDatabaseUrl, SHORTEST_SECRET } from "../secrets.ts";

/** A value that was understood, or a sentence on what is wrong and what was expected. */
export type Reading<T> = { readonly value: T } | { readonly problem: string };

/**
 * The service's base URL, always with a slash at its end so that paths can be joined to it.
 * Problems never hold the URL: people paste keys into the wrong place.
 */
export function readBaseUrl(text: string, allowHttp: boolean): Reading<URL> {
  const expected = "expected one such as https://api.example.com/v1/";
  if (!URL.canParse(text)) return { problem: `is not a URL; ${expected}` };
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return { problem: `is not an https URL; ${expected}` };
  if (url.username !== "" || url.password !== "") {
    return { problem: "has a user name or password in it; the key alone opens the service, so take them out" };
  }
  if (text.includes("?") || text.includes("#")) return { problem: `has a query or a fragment; ${expected}` };
  if (url.protocol === "http:" && !allowHttp && !isLoopback(url.hostname)) {
    return {
      problem: "is plain http, which would show the key to the network; use https, or set SIMCAT_ALLOW_HTTP=true",
    };
  }
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return { value: url };
}

/** Of a URL's host name: `URL` has already turned every way of writing an IPv4 address into four decimal numbers. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** A Postgres URL. Problems never hold it, since it holds a password. */
export function readDatabaseUrl(text: string): Reading<string> {
  const expected = "expected one such as postgres://user:password@host:5432/database";
  if (!/^postgres(?:ql)?:\/\//i.test(text)) return { problem: `is not a Postgres URL; ${expected}` };
  // A password with one of / ? # in it ends the host there, and its rest would be told as a host or a database.
  if (/^[^/]*\/\/[^/?#]*[/?#].*@/s.test(text)) {
    return { problem: `has an @ behind its host; ${expected}, with / ? # @ : in the password percent-encoded` };
  }
  if (parseDatabaseUrl(text) === null) {
    return { problem: `is not a URL that can be read; ${expected}, with / ? # @ : in the password percent-encoded` };
  }
  return { value: text };
}

/** An API key as it can stand in a header. Problems never hold it. */
export function readApiKey(text: string): Reading<string> {
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)) {
    return {
      problem: "has a line break, a space at an end, or a character that is not printable ASCII; expected the bare key",
    };
  }
  if (text.length < SHORTEST_SECRET) {
    return {
      problem: `is shorter than ${SHORTEST_SECRET} characters, so messages could not be masked without hiding ordinary words; expected the whole key`,
    };
  }
  return { value: text };
}

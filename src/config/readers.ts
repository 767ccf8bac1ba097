import { createRequire } from "node:module";
import { ConfigurationError } from "../errors.ts";
import { MIN_SECRET_CHARS, parseDatabaseUrl } from "../secrets.ts";
import type { Slice } from "../slice.ts";
import { DAY_MS, parseDuration, parseShare, parseSize, type Share } from "../units.ts";

/** The variables of the process and of `.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Parses the text of a setting. `environment` holds the texts of all settings.
 * @throws ConfigurationError whose summary is the predicate of a sentence that begins with the setting's name: `is "x"`
 */
export type Reader<T> = (text: string, environment: Environment) => T;

const invalid = (problem: string, hint: string) => new ConfigurationError(problem, { hint });

const shorten = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

function reject(text: string, expected: string): never {
  throw invalid(`is ${JSON.stringify(shorten(text))}`, `expected ${expected}`);
}

/** A number, perhaps with a unit. */
function quantity(parse: (text: string) => number | null, min: number, max: number, expected: string): Reader<number> {
  return (text) => {
    const value = parse(text);
    return value !== null && value >= min && value <= max ? value : reject(text, expected);
  };
}

const parseDigits = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : null);
export const wholeNumber = (from: number, to: number) =>
  quantity(parseDigits, from, to, `a whole number from ${from} to ${to}`);

const duration = (min: number, max: number, expected: string) =>
  quantity(parseDuration, min, max, `a duration ${expected}`);
/** Timers of Node overflow above 24.8 days and then fire at once. */
export const timer = duration(1, 24 * DAY_MS, "from 1ms to 24d, such as 500ms, 60s, 15m or 24h");
export const interval = duration(1, 3650 * DAY_MS, "from 1ms to 3650d, such as 15m, 24h or 7d");
/** The guard of removals compares with the last 24 hours. */
export const historyAge = duration(DAY_MS, 3650 * DAY_MS, "from 24h to 3650d, such as 90d or 395d");
export const size = quantity(parseSize, 1, 2 ** 40, "a size from 1B to 1024GiB, such as 64KiB, 512MiB or 1GiB");

export const share: Reader<Share> = (text) => parseShare(text) ?? reject(text, "0% to 100%, at most four decimals");

export const flag: Reader<boolean> = (text) =>
  text === "true" || text === "false" ? text === "true" : reject(text, "true or false");

const MAX_SLICES = 64;
const SLICE = `I/N with I from 1 to N and N up to ${MAX_SLICES}, such as 3/8, or auto/8 in an Indexed Job of Kubernetes`;

/** Kubernetes numbers the pods of an Indexed Job from 0. */
export const slice: Reader<Slice> = (text, { JOB_COMPLETION_INDEX: jobIndex }) => {
  const [, part, parts] = /^(\d{1,2}|auto)\/(\d{1,2})$/.exec(text) ?? [];
  const index = part === "auto" ? (parseDigits(jobIndex ?? "") ?? Number.NaN) + 1 : Number(part);
  const count = Number(parts);
  if (index >= 1 && index <= count && count <= MAX_SLICES) return { index, count };
  if (part !== "auto" || count < 1 || count > MAX_SLICES) return reject(text, SLICE);
  const given = jobIndex ? JSON.stringify(shorten(jobIndex)) : "not set";
  const expected = `expected 0 to ${count - 1}, as an Indexed Job of ${count} completions sets it`;
  throw invalid(`is "${text}", and JOB_COMPLETION_INDEX is ${given}`, expected);
};

export const timeZone: Reader<string> = (text) => {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: text }).resolvedOptions().timeZone && text;
  } catch {
    return reject(text, "the name of a time zone, such as UTC or Europe/Berlin");
  }
};

export const cronSchedule: Reader<string> = (text) => {
  const { validateDetailed } = createRequire(import.meta.url)("node-cron") as typeof import("node-cron");
  const [error] = validateDetailed(text).errors;
  if (error === undefined) return text;
  return reject(text, `a cron expression such as */15 * * * * (${shorten(error.message)})`);
};

/** A path segment of the service's URLs. `.` and `..` would change the path. */
export const ownerName: Reader<string> = (text) => {
  const isAddressable = text !== "." && text !== ".." && text.isWellFormed() && !text.includes("\0");
  return isAddressable ? text : reject(text, "the name of an owner");
};

/** A directory. A `~` that no shell has replaced would become a directory of that name. */
export const directory: Reader<string> = (text) =>
  /^~(?:\/|$)/.test(text) ? reject(text, "a path without ~, which only shells replace") : text;

export const logLevel = oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent");
export const logFormat = oneOf("auto", "json", "pretty");

function oneOf<const T extends string>(...choices: readonly T[]): Reader<T> {
  return (text) => choices.find((choice) => choice === text) ?? reject(text, `one of ${choices.join(", ")}`);
}

/** The host name of a parsed URL, in which `URL` has written every IPv4 address as four decimal numbers. */
const LOOPBACK_HOST = /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/;

/** Always with a trailing slash, so that paths can be joined. No problem contains it, because people paste keys into it. */
export const baseUrl: Reader<URL> = (text, { SIMCAT_ALLOW_HTTP }) => {
  const wrong = (problem: string, hint = "expected one such as https://api.example.com/v1/") => invalid(problem, hint);
  if (!URL.canParse(text)) throw wrong("is not a URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw wrong("is not an https URL");
  if (url.username !== "" || url.password !== "")
    throw wrong("has a user name or password in it", "remove them: the service requires only the API key");
  if (text.includes("?") || text.includes("#")) throw wrong("has a query or a fragment");
  if (url.protocol === "http:" && SIMCAT_ALLOW_HTTP !== "true" && !LOOPBACK_HOST.test(url.hostname))
    throw wrong("is plain http, which would send the key unencrypted", "use https, or set SIMCAT_ALLOW_HTTP=true");
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url;
};

/** The URL of a web hook. A problem never contains it, because its path is often a secret. */
export const notifyUrl: Reader<string> = (text) => {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw invalid("is not an http or https URL", "expected one such as https://hooks.example.com/…");
};

/** The host name of a Host header as `URL` spells it, without the port and a final dot; null if it is not a valid host. */
export function hostNameOf(host: string): string | null {
  const url = `http://${host}`;
  if (/[/?#@\\\s]/.test(host) || !URL.canParse(url)) return null;
  return new URL(url).hostname.replace(/\.$/, "");
}

/** Host names without ports, separated by commas. */
export const hostNames: Reader<readonly string[]> = (text) => {
  const names = text.split(",").map((name) => name.trim());
  const isName = (name: string) => hostNameOf(name) !== null && !/:\d*$|\*/.test(name);
  if (names.every(isName)) return names;
  return reject(text, "host names without ports, separated by commas, such as simcat.example.com,simcat");
};

/** A Postgres URL. A problem never contains it, because it contains a password. */
export const databaseUrl: Reader<string> = (text) => {
  const expected = "expected one such as postgres://user:password@host:5432/database";
  const encoded = `${expected}, with / ? # @ : in the password percent-encoded`;
  if (!/^postgres(?:ql)?:\/\//i.test(text)) throw invalid("is not a Postgres URL", expected);
  // An unencoded / ? # in the password ends the host there, and messages would show the rest as a host or a database.
  if (/^[^/]*\/\/[^/?#]*[/?#].*@/s.test(text)) throw invalid("has an @ after its host", encoded);
  if (parseDatabaseUrl(text) === null) throw invalid("is not a valid URL", encoded);
  return text;
};

/** An API key that can be sent in a header. A problem never contains it. */
export const apiKey: Reader<string> = (text) => {
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)) {
    const problem = "has a line break, a space at an end, or a character that is not printable ASCII";
    throw invalid(problem, "expected the bare key");
  }
  if (text.length >= MIN_SECRET_CHARS) return text;
  const reason = "so messages could not be masked without hiding ordinary words";
  throw invalid(`is shorter than ${MIN_SECRET_CHARS} characters, ${reason}`, "expected the whole key");
};

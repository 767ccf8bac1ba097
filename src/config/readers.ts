import { createRequire } from "node:module";
import { MIN_SECRET_CHARS, parseDatabaseUrl } from "../secrets.ts";
import type { Slice } from "../slice.ts";
import { DAY_MS, parseDuration, parseShare, parseSize, type Share } from "../units.ts";

/** The variables of the process and of `.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A parsed value; otherwise the problem, with what is expected (a noun phrase) or what to do. */
type Reading<T> =
  | { readonly value: T }
  | { readonly problem: string; readonly expected: string }
  | { readonly problem: string; readonly hint: string };

/** Parses the text of a setting. `environment` holds the texts of all settings. */
export type Reader<T> = (text: string, environment: Environment) => Reading<T>;

export function wholeNumber(from: number, to: number): Reader<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= from && value <= to ? { value } : rejected(text, `a whole number from ${from} to ${to}`);
  };
}

/** A number with a unit, up to `max`. */
function quantity(parse: (text: string) => number | null, max: number, expected: string): Reader<number> {
  return (text) => {
    const value = parse(text);
    return value !== null && value <= max ? { value } : rejected(text, expected);
  };
}

/** Timers of Node overflow above 24.8 days and then fire at once. */
export const timer = quantity(parseDuration, 24 * DAY_MS, "a duration of at most 24d, such as 500ms, 60s, 15m or 24h");
export const interval = quantity(parseDuration, 3650 * DAY_MS, "a duration such as 15m, 24h or 7d");
/** The guard of removals compares with the last 24 hours. */
export const historyAge: Reader<number> = (text, environment) => {
  const reading = interval(text, environment);
  const isTooShort = "value" in reading && reading.value < DAY_MS;
  return isTooShort ? rejected(text, "a duration of at least 24h, such as 90d or 395d") : reading;
};
export const size = quantity(parseSize, 2 ** 40, "a size such as 64KiB, 512MiB or 1GiB");

export const share: Reader<Share> = (text) => {
  const value = parseShare(text);
  return value !== null ? { value } : rejected(text, "a share from 0% to 100%");
};

export const flag: Reader<boolean> = (text) => {
  return text === "true" || text === "false" ? { value: text === "true" } : rejected(text, "true or false");
};

const MAX_SLICES = 64;
const SLICE = `I/N with I from 1 to N and N up to ${MAX_SLICES}, such as 3/8, or auto/8 in an Indexed Job of Kubernetes`;

/** Kubernetes numbers the pods of an Indexed Job from 0. */
export const slice: Reader<Slice> = (text, { JOB_COMPLETION_INDEX: jobIndex }) => {
  const [, part, parts] = /^(\d{1,2}|auto)\/(\d{1,2})$/.exec(text) ?? [];
  const index = part === "auto" ? Number(jobIndex || Number.NaN) + 1 : Number(part);
  const count = Number(parts);
  const isSlice = Number.isInteger(index) && index >= 1 && index <= count && count <= MAX_SLICES;
  if (isSlice) return { value: { index, count } };
  const { problem, expected } = rejected(text, SLICE);
  const given = jobIndex ? JSON.stringify(shorten(jobIndex)) : "not set";
  return { problem: part === "auto" ? `${problem}, and JOB_COMPLETION_INDEX is ${given}` : problem, expected };
};

export const timeZone: Reader<string> = (text) => {
  // Creating the first formatter of a process takes as long as reading all other settings.
  if (text === "UTC") return { value: text };
  try {
    return { value: new Intl.DateTimeFormat("en-US", { timeZone: text }).resolvedOptions().timeZone && text };
  } catch {
    return rejected(text, "the name of a time zone, such as UTC or Europe/Berlin");
  }
};

/** Loaded only if another schedule than the default is set, because only the worker needs it otherwise. */
const loadScheduler = () => createRequire(import.meta.url)("node-cron") as typeof import("node-cron");

export const DEFAULT_SCHEDULE = "*/15 * * * *";

export const cronSchedule: Reader<string> = (text) => {
  if (text === DEFAULT_SCHEDULE) return { value: text };
  const { validateDetailed, createTask } = loadScheduler();
  const expression = "a cron expression such as */15 * * * *";
  const [wrong] = validateDetailed(text).errors;
  if (wrong) return rejected(text, `${expression}; its ${wrong.field} cannot be read (${shorten(wrong.message)})`);
  const task = createTask(text, () => {});
  try {
    task.getNextRuns(1);
    return { value: text };
  } catch {
    return rejected(text, `${expression}; this one is never due: no day of the next hundred years matches it`);
  } finally {
    // node-cron keeps every task in a registry until it is destroyed. The worker reads its settings before every run.
    void task.destroy();
  }
};

/** A path segment of the service's URLs. `.` and `..` would change the path. */
export const ownerName: Reader<string> = (text) => {
  const isAddressable = text !== "." && text !== ".." && text.isWellFormed() && !text.includes("\0");
  return isAddressable ? { value: text } : rejected(text, "the name of an owner");
};

export const anyText: Reader<string> = (text) => ({ value: text });

export const logLevel = oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent");
export const logFormat = oneOf("auto", "json", "pretty");

function oneOf<const T extends string>(...choices: readonly T[]): Reader<T> {
  return (text) => {
    const value = choices.find((choice) => choice === text);
    return value !== undefined ? { value } : rejected(text, `one of ${choices.join(", ")}`);
  };
}

const BASE_URL_EXAMPLE = "one such as https://api.example.com/v1/";

/**
 * The service's base URL, always with a trailing slash, so that paths can be joined to it. A problem never contains the
 * URL, because people paste keys into the wrong place.
 */
export const baseUrl: Reader<URL> = (text, { SIMCAT_ALLOW_HTTP }) => {
  const wrong = (problem: string) => ({ problem, expected: BASE_URL_EXAMPLE });
  if (!URL.canParse(text)) return wrong("is not a URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return wrong("is not an https URL");
  if (url.username !== "" || url.password !== "") {
    const hint = "remove them: the service requires only the API key";
    return { problem: "has a user name or password in it", hint };
  }
  if (text.includes("?") || text.includes("#")) return wrong("has a query or a fragment");
  if (url.protocol === "http:" && SIMCAT_ALLOW_HTTP !== "true" && !isLoopback(url.hostname)) {
    const hint = "use https, or set SIMCAT_ALLOW_HTTP=true";
    return { problem: "is plain http, which would send the key unencrypted", hint };
  }
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return { value: url };
};

/** The URL of a web hook. A problem never contains it, because its path is often a secret. */
export const notifyUrl: Reader<string> = (text) => {
  const isUrl = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  return isUrl
    ? { value: text }
    : { problem: "is not an http or https URL", expected: "one such as https://hooks.example.com/…" };
};

/** True for the host name of a parsed URL, in which `URL` has written every IPv4 address as four decimal numbers. */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** The host name of a Host header as `URL` spells it, without the port and a final dot; null if it is not a valid host. */
export function hostNameOf(host: string): string | null {
  const url = `http://${host}`;
  if (/[/?#@\\\s]/.test(host) || !URL.canParse(url)) return null;
  return new URL(url).hostname.replace(/\.$/, "");
}

/** Host names without ports, separated by commas. */
export const hostNames: Reader<readonly string[]> = (text) => {
  const names = text.split(",").map((name) => name.trim());
  const isName = (name: string) => hostNameOf(name) !== null && !/:\d*$/.test(name);
  return names.every(isName)
    ? { value: names }
    : rejected(text, "host names without ports, separated by commas, such as simcat.example.com,simcat");
};

/** A Postgres URL. A problem never contains it, because it contains a password. */
export const databaseUrl: Reader<string> = (text) => {
  const expected = "one such as postgres://user:password@host:5432/database";
  const encoded = `${expected}, with / ? # @ : in the password percent-encoded`;
  if (!/^postgres(?:ql)?:\/\//i.test(text)) return { problem: "is not a Postgres URL", expected };
  // An unencoded / ? # in the password ends the host there, and messages would show the rest as a host or a database.
  if (/^[^/]*\/\/[^/?#]*[/?#].*@/s.test(text)) return { problem: "has an @ after its host", expected: encoded };
  return parseDatabaseUrl(text) === null ? { problem: "is not a valid URL", expected: encoded } : { value: text };
};

/** An API key that can be sent in a header. A problem never contains it. */
export const apiKey: Reader<string> = (text) => {
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)) {
    const problem = "has a line break, a space at an end, or a character that is not printable ASCII";
    return { problem, expected: "the bare key" };
  }
  if (text.length >= MIN_SECRET_CHARS) return { value: text };
  const reason = "so messages could not be masked without hiding ordinary words";
  return { problem: `is shorter than ${MIN_SECRET_CHARS} characters, ${reason}`, expected: "the whole key" };
};

function rejected(text: string, expected: string): { readonly problem: string; readonly expected: string } {
  return { problem: `is ${JSON.stringify(shorten(text))}`, expected };
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

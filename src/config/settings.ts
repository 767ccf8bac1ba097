import { maskDatabaseUrl } from "../secrets.ts";
import { DAY_MS, MINUTE_MS } from "../units.ts";
import * as read from "./readers.ts";

/** Every setting, in the order in which they are printed: its name, its default, its reader, and how its text is shown. */
export const SETTINGS = {
  /** Ends with a slash. Null, like `apiKey`, only if the command needs no service. */
  baseUrl: setting("SIMCAT_BASE_URL", null, read.baseUrl),
  allowHttp: setting("SIMCAT_ALLOW_HTTP", false, read.flag),
  apiKey: secret("SIMCAT_API_KEY", read.apiKey),
  /** Null for the embedded database. */
  databaseUrl: secret("DATABASE_URL", read.databaseUrl, maskDatabaseUrl),
  /** For migrations; null for `databaseUrl`. */
  databaseDirectUrl: secret("DATABASE_DIRECT_URL", read.databaseUrl, maskDatabaseUrl),
  defaultOwner: setting("SIMCAT_DEFAULT_OWNER", null, read.ownerName),
  serviceTimezone: setting("SIMCAT_SERVICE_TIMEZONE", "UTC", read.timeZone),
  concurrency: setting("SIMCAT_CONCURRENCY", 16, read.wholeNumber(1, 1024)),
  /** Null for everything. */
  slice: setting("SIMCAT_SLICE", null, read.slice),
  /** Of all slices together. */
  maxRps: setting("SIMCAT_MAX_RPS", null, read.wholeNumber(1, 100_000)),
  requestTimeoutMs: setting("SIMCAT_REQUEST_TIMEOUT", MINUTE_MS, read.timer),
  maxRetries: setting("SIMCAT_MAX_RETRIES", 4, read.wholeNumber(0, 100)),
  maxRetryWaitMs: setting("SIMCAT_MAX_RETRY_WAIT", MINUTE_MS, read.timer),
  maxBodyBytes: setting("SIMCAT_MAX_BODY", 512 * 2 ** 20, read.size),
  fullEveryMs: setting("SIMCAT_FULL_EVERY", 7 * DAY_MS, read.interval),
  maxRemoved: setting("SIMCAT_MAX_REMOVED", 300_000, read.share),
  /** Null to keep all history. */
  keepHistoryMs: setting("SIMCAT_KEEP_HISTORY", null, read.historyAge),
  schedule: setting("SIMCAT_SCHEDULE", "*/15 * * * *", read.cronSchedule),
  timezone: setting("SIMCAT_TIMEZONE", "UTC", read.timeZone),
  httpHost: setting("SIMCAT_HTTP_HOST", "127.0.0.1", (text) => text),
  httpPort: setting("SIMCAT_HTTP_PORT", 9464, read.wholeNumber(0, 65_535)),
  /** Further host names that the worker answers. */
  httpAllowedHosts: setting("SIMCAT_HTTP_ALLOWED_HOSTS", null, read.hostNames),
  /** Where changes between good and not good are posted; null for nowhere. */
  notifyUrl: secret("SIMCAT_NOTIFY_URL", read.notifyUrl),
  autoMigrate: setting("SIMCAT_AUTO_MIGRATE", true, read.flag),
  /** Null for the default directory of the platform. */
  stateDir: setting("SIMCAT_STATE_DIR", null, read.directory),
  logLevel: setting("SIMCAT_LOG_LEVEL", "info", read.logLevel),
  logFormat: setting("SIMCAT_LOG_FORMAT", "auto", read.logFormat),
};

export type SettingField = keyof typeof SETTINGS;
export type Name = (typeof SETTINGS)[SettingField]["name"];
/** The values of all settings. Durations are in milliseconds, sizes in bytes. */
export type Settings = { readonly [F in SettingField]: ReturnType<(typeof SETTINGS)[F]["read"]> };

const ALL = Object.values(SETTINGS);
export const NAMES: readonly Name[] = ALL.map(({ name }) => name);
/** The settings that are secrets. Each can be set through `NAME_FILE`, the path of a file that contains it. */
export const SECRET_NAMES: readonly Name[] = ALL.flatMap(({ name, isSecret }) => (isSecret ? [name] : []));

/** A setting whose value is null if it is not set and has no default. */
function setting<const N extends string, F extends T | null, T>(name: N, fallback: F, reader: read.Reader<T>) {
  const show = (text: string) => text;
  return { name, fallback, read: reader as read.Reader<F extends null ? T | null : T>, show, isSecret: false };
}

function secret<const N extends string>(name: N, reader: read.Reader<string>, show = (_text: string) => "***") {
  return { ...setting(name, null, reader), show, isSecret: true };
}

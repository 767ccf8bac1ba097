import { maskDatabaseUrl } from "../secrets.ts";
import { formatSlice } from "../slice.ts";
import { formatDuration, formatShare, formatSize } from "../units.ts";
import * as read from "./readers.ts";

/** Every setting, in the order of the reports: its name, the text of its default, its reader, and how its value is shown. */
export const SETTINGS = {
  /** Ends with a slash. Null, like `apiKey`, only if the command needs no service. */
  baseUrl: optional("SIMCAT_BASE_URL", read.baseUrl),
  allowHttp: withDefault("SIMCAT_ALLOW_HTTP", "false", read.flag),
  apiKey: optional("SIMCAT_API_KEY", read.apiKey, () => "***"),
  /** Null for the embedded database. */
  databaseUrl: optional("DATABASE_URL", read.databaseUrl, maskDatabaseUrl),
  /** For migrations; equal to `databaseUrl` unless it is set. */
  databaseDirectUrl: optional("DATABASE_DIRECT_URL", read.databaseUrl, maskDatabaseUrl),
  defaultOwner: optional("SIMCAT_DEFAULT_OWNER", read.ownerName),
  serviceTimezone: withDefault("SIMCAT_SERVICE_TIMEZONE", "UTC", read.timeZone),
  concurrency: withDefault("SIMCAT_CONCURRENCY", "16", read.wholeNumber(1, 1024)),
  /** Null for everything. */
  slice: optional("SIMCAT_SLICE", read.slice, formatSlice),
  /** Of all slices together. */
  maxRps: optional("SIMCAT_MAX_RPS", read.wholeNumber(1, 100_000)),
  requestTimeoutMs: withDefault("SIMCAT_REQUEST_TIMEOUT", "60s", read.timer, formatDuration),
  maxRetries: withDefault("SIMCAT_MAX_RETRIES", "4", read.wholeNumber(0, 100)),
  maxRetryWaitMs: withDefault("SIMCAT_MAX_RETRY_WAIT", "60s", read.timer, formatDuration),
  maxBodyBytes: withDefault("SIMCAT_MAX_BODY", "512MiB", read.size, formatSize),
  fullEveryMs: withDefault("SIMCAT_FULL_EVERY", "7d", read.interval, formatDuration),
  maxRemoved: withDefault("SIMCAT_MAX_REMOVED", "30%", read.share, formatShare),
  /** Null to keep all history. */
  keepHistoryMs: optional("SIMCAT_KEEP_HISTORY", read.historyAge, formatDuration),
  schedule: withDefault("SIMCAT_SCHEDULE", read.DEFAULT_SCHEDULE, read.cronSchedule),
  timezone: withDefault("SIMCAT_TIMEZONE", "UTC", read.timeZone),
  httpHost: withDefault("SIMCAT_HTTP_HOST", "127.0.0.1", read.anyText),
  httpPort: withDefault("SIMCAT_HTTP_PORT", "9464", read.wholeNumber(0, 65_535)),
  /** Further host names that the worker answers. */
  httpAllowedHosts: optional("SIMCAT_HTTP_ALLOWED_HOSTS", read.hostNames),
  /** Where changes between good and not good are posted; null for nowhere. */
  notifyUrl: optional("SIMCAT_NOTIFY_URL", read.notifyUrl, () => "***"),
  autoMigrate: withDefault("SIMCAT_AUTO_MIGRATE", "true", read.flag),
  /** Null for the default directory of the platform. */
  stateDir: optional("SIMCAT_STATE_DIR", read.anyText),
  logLevel: withDefault("SIMCAT_LOG_LEVEL", "info", read.logLevel),
  logFormat: withDefault("SIMCAT_LOG_FORMAT", "auto", read.logFormat),
};

/** The settings that are secrets. Each can be set through `NAME_FILE`, the path of a file that contains it. */
export const SECRET_NAMES = [
  "SIMCAT_API_KEY",
  "DATABASE_URL",
  "DATABASE_DIRECT_URL",
  "SIMCAT_NOTIFY_URL",
] as const satisfies Name[];

export type SettingField = keyof typeof SETTINGS;
export type Name = (typeof SETTINGS)[SettingField]["name"];
type ValueOf<S> = S extends { readonly read: read.Reader<infer T> } ? T : never;
/** The values of all settings. Durations are in milliseconds, sizes in bytes. */
export type Settings = { readonly [F in SettingField]: ValueOf<(typeof SETTINGS)[F]> };

export const NAMES: readonly Name[] = Object.values(SETTINGS).map(({ name }) => name);

function withDefault<const N extends string, T>(
  name: N,
  fallback: string,
  reader: read.Reader<T>,
  show: (value: T) => string = String,
) {
  return { name, fallback, read: reader, show };
}

/** A setting whose value is null if it is not set. */
function optional<const N extends string, T>(name: N, reader: read.Reader<T>, show: (value: T) => string = String) {
  return { name, fallback: null, read: reader as read.Reader<T | null>, show };
}

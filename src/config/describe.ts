import type { Config } from "../config.ts";
import { maskDatabaseUrl } from "../secrets.ts";
import { formatDuration, formatShare, formatSize } from "../units.ts";
import { NAMES, type Name } from "./names.ts";

/** A setting for display, without secrets. */
interface Setting {
  readonly name: Name;
  /** Null when unset. */
  readonly value: string | null;
  /** `environment`, `.env`, `default`, or the path of a secret's file. */
  readonly source: string;
}

const VALUES: Readonly<Record<Name, (config: Config) => string | null>> = {
  SIMCAT_BASE_URL: ({ baseUrl }) => baseUrl?.href ?? null,
  SIMCAT_ALLOW_HTTP: ({ allowHttp }) => String(allowHttp),
  SIMCAT_API_KEY: ({ apiKey }) => (apiKey === null ? null : "***"),
  DATABASE_URL: ({ databaseUrl }) => (databaseUrl === null ? null : maskDatabaseUrl(databaseUrl)),
  DATABASE_DIRECT_URL: ({ databaseDirectUrl }) =>
    databaseDirectUrl === null ? null : maskDatabaseUrl(databaseDirectUrl),
  SIMCAT_DEFAULT_OWNER: ({ defaultOwner }) => defaultOwner,
  SIMCAT_SERVICE_TIMEZONE: ({ serviceTimezone }) => serviceTimezone,
  SIMCAT_CONCURRENCY: ({ concurrency }) => String(concurrency),
  SIMCAT_MAX_RPS: ({ maxRps }) => (maxRps === null ? null : String(maxRps)),
  SIMCAT_REQUEST_TIMEOUT: ({ requestTimeoutMs }) => formatDuration(requestTimeoutMs),
  SIMCAT_MAX_RETRIES: ({ maxRetries }) => String(maxRetries),
  SIMCAT_MAX_RETRY_WAIT: ({ maxRetryWaitMs }) => formatDuration(maxRetryWaitMs),
  SIMCAT_MAX_BODY: ({ maxBodyBytes }) => formatSize(maxBodyBytes),
  SIMCAT_FULL_EVERY: ({ fullEveryMs }) => formatDuration(fullEveryMs),
  SIMCAT_MAX_REMOVED: ({ maxRemoved }) => formatShare(maxRemoved),
  SIMCAT_SCHEDULE: ({ schedule }) => schedule,
  SIMCAT_TIMEZONE: ({ timezone }) => timezone,
  SIMCAT_HTTP_HOST: ({ httpHost }) => httpHost,
  SIMCAT_HTTP_PORT: ({ httpPort }) => String(httpPort),
  SIMCAT_AUTO_MIGRATE: ({ autoMigrate }) => String(autoMigrate),
  SIMCAT_STATE_DIR: ({ stateDir }) => stateDir,
  SIMCAT_LOG_LEVEL: ({ logLevel }) => logLevel,
  SIMCAT_LOG_FORMAT: ({ logFormat }) => logFormat,
};

/** Every setting with its value and source, with masked secrets. */
export function describeConfig(config: Config): Setting[] {
  return NAMES.map((name) => ({ name, value: VALUES[name](config), source: config.sources[name] ?? "default" }));
}

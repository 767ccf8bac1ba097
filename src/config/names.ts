import { editDistance } from "../edit-distance.ts";

/** Secrets. Each can be set through `NAME_FILE`, the path of a file that contains it. */
export const SECRET_NAMES = ["SIMCAT_API_KEY", "DATABASE_URL", "DATABASE_DIRECT_URL"] as const;

/** The name of every setting in the environment, in the order of the reports. */
export const NAME_OF = {
  baseUrl: "SIMCAT_BASE_URL",
  allowHttp: "SIMCAT_ALLOW_HTTP",
  apiKey: "SIMCAT_API_KEY",
  databaseUrl: "DATABASE_URL",
  databaseDirectUrl: "DATABASE_DIRECT_URL",
  defaultOwner: "SIMCAT_DEFAULT_OWNER",
  serviceTimezone: "SIMCAT_SERVICE_TIMEZONE",
  concurrency: "SIMCAT_CONCURRENCY",
  maxRps: "SIMCAT_MAX_RPS",
  requestTimeoutMs: "SIMCAT_REQUEST_TIMEOUT",
  maxRetries: "SIMCAT_MAX_RETRIES",
  maxRetryWaitMs: "SIMCAT_MAX_RETRY_WAIT",
  maxBodyBytes: "SIMCAT_MAX_BODY",
  fullEveryMs: "SIMCAT_FULL_EVERY",
  maxRemoved: "SIMCAT_MAX_REMOVED",
  schedule: "SIMCAT_SCHEDULE",
  timezone: "SIMCAT_TIMEZONE",
  httpHost: "SIMCAT_HTTP_HOST",
  httpPort: "SIMCAT_HTTP_PORT",
  autoMigrate: "SIMCAT_AUTO_MIGRATE",
  stateDir: "SIMCAT_STATE_DIR",
  logLevel: "SIMCAT_LOG_LEVEL",
  logFormat: "SIMCAT_LOG_FORMAT",
} as const;

export type Field = keyof typeof NAME_OF;
export type Name = (typeof NAME_OF)[Field];

export const NAMES: readonly Name[] = Object.values(NAME_OF);

const KNOWN: ReadonlySet<string> = new Set([...NAMES, ...SECRET_NAMES.map((name) => `${name}_FILE`)]);

/**
 * Names that look like a setting and are none, because a misspelt setting would otherwise be ignored silently.
 * DATABASE_HOST, DB_URL and the like are excluded: another program of the same machine may use them.
 */
export function unknownNames(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(environment).filter((name) => !KNOWN.has(name) && (name.startsWith(PREFIX) || isNearMiss(name)));
}

const PREFIX = "SIMCAT_";
/** A name with at most this many wrong letters counts as a misspelt setting. */
const MAX_WRONG_LETTERS = 2;

function isNearMiss(name: string): boolean {
  const text = name.toUpperCase();
  return [...KNOWN].some((known) => editDistance(text, known, MAX_WRONG_LETTERS) <= MAX_WRONG_LETTERS);
}

/** The setting with the most similar name; null if none is similar. */
export function nearestName(unknown: string): string | null {
  const text = unknown.toUpperCase();
  const texts = text.startsWith(PREFIX) ? [text, text.slice(PREFIX.length)] : [text];
  const distances = texts.flatMap((candidate) => {
    const limit = Math.floor(candidate.length / 3);
    const all = [...KNOWN].map((name) => ({ name, distance: editDistance(candidate, name, limit) }));
    return all.filter(({ distance }) => distance <= limit);
  });
  return distances.sort((a, b) => a.distance - b.distance)[0]?.name ?? null;
}

/** `unknown setting X (ignored); did you mean Y?`, in two parts. */
export function describeUnknown(name: string): { readonly text: string; readonly hint: string | null } {
  const nearest = nearestName(name);
  return { text: `unknown setting ${name} (ignored)`, hint: nearest === null ? null : `did you mean ${nearest}?` };
}

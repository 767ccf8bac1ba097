import { z } from "zod";
import type { Environment } from "./config/environment.ts";
import { type Field, NAME_OF, type Name, SECRET_NAMES, unknownNames } from "./config/names.ts";
import { configurationError, type Problem } from "./config/problems.ts";
import * as read from "./config/readers.ts";
import { readSecretFiles } from "./config/secret-files.ts";
import { readApiKey, readBaseUrl, readDatabaseUrl } from "./config/urls.ts";
import { databaseSecrets } from "./secrets.ts";
import type { Share } from "./units.ts";

/** What simcat was told to do, checked. Durations are in milliseconds, sizes in bytes. */
export interface Config {
  /** Ends with a slash. Null only where the command needs no service; so the key. */
  readonly baseUrl: URL | null;
  readonly apiKey: string | null;
  readonly allowHttp: boolean;
  /** Null for the embedded database. */
  readonly databaseUrl: string | null;
  /** For migrations; `databaseUrl` where it is not set apart. */
  readonly databaseDirectUrl: string | null;
  readonly defaultOwner: string | null;
  readonly serviceTimezone: string;
  readonly concurrency: number;
  readonly maxRps: number | null;
  readonly requestTimeoutMs: number;
  readonly maxRetries: number;
  readonly maxRetryWaitMs: number;
  readonly maxBodyBytes: number;
  readonly fullEveryMs: number;
  readonly maxRemoved: Share;
  readonly schedule: string;
  readonly timezone: string;
  readonly httpHost: string;
  readonly httpPort: number;
  readonly autoMigrate: boolean;
  /** Null for the platform's own place. */
  readonly stateDir: string | null;
  readonly logLevel: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  readonly logFormat: "auto" | "json" | "pretty";
  /** Names that begin with `SIMCAT_` and mean nothing. */
  readonly unknown: readonly string[];
  /** Where each setting came from: `environment`, `.env`, or a file's path; absent for a default. */
  readonly sources: Readonly<Partial<Record<Name, string>>>;
}

export interface Needs {
  readonly service: boolean;
  /** Without it nothing of the database's settings is read. */
  readonly database: boolean;
}

/**
 * Checks the environment (a `.env` file already merged into it, `dotenv` its names) and throws one ConfigurationError
 * that tells every problem. An empty value counts as unset. What a command does not need may be unset, not wrong.
 */
export function loadConfig(environment: Environment, needs: Needs, dotenv: ReadonlySet<string> = new Set()): Config {
  const files = readSecretFiles(environment, needs.database ? SECRET_NAMES : ["SIMCAT_API_KEY"]);
  const texts: Partial<Record<Field, string>> = {};
  const sources: Partial<Record<Name, string>> = {};
  for (const [field, name] of Object.entries(NAME_OF) as [Field, Name][]) {
    const text = files.values[name] ?? environment[name];
    if (!text || (name.startsWith("DATABASE_") && !needs.database)) continue;
    texts[field] = text;
    sources[name] = files.paths[name] ?? (dotenv.has(name) ? ".env" : "environment");
  }
  const parsed = schemaFor(texts.allowHttp === "true").safeParse(texts);
  const problems = [...files.problems, ...(parsed.error?.issues ?? []).map(problemOf)];
  const unset = needs.service ? (["baseUrl", "apiKey"] as const).filter((field) => texts[field] === undefined) : [];
  problems.push(
    ...unset.filter((field) => !isTold(field, problems)).map((field) => ({ name: NAME_OF[field], text: UNSET[field] })),
  );
  if (texts.databaseDirectUrl !== undefined && texts.databaseUrl === undefined && !isTold("databaseUrl", problems)) {
    problems.push({
      name: NAME_OF.databaseDirectUrl,
      text: "is set without DATABASE_URL; set both, or DATABASE_URL alone",
    });
  }
  if (problems.length > 0 || !parsed.success) throw configurationError(problems, secretsOf(texts));
  const databaseDirectUrl = parsed.data.databaseDirectUrl ?? parsed.data.databaseUrl;
  return { ...parsed.data, databaseDirectUrl, unknown: unknownNames(environment), sources };
}

type Texts = Readonly<Partial<Record<Field, string>>>;

const UNSET = {
  baseUrl: "is not set; expected the service's base URL, such as https://api.example.com/v1/",
  apiKey: "is not set; expected the service's API key, here or in the file that SIMCAT_API_KEY_FILE names",
};

function schemaFor(allowHttp: boolean) {
  return z.object({
    baseUrl: optional((text) => readBaseUrl(text, allowHttp)),
    allowHttp: withDefault("false", read.flag),
    apiKey: optional(readApiKey),
    databaseUrl: optional(readDatabaseUrl),
    databaseDirectUrl: optional(readDatabaseUrl),
    defaultOwner: optional(read.ownerName),
    serviceTimezone: withDefault("UTC", read.timeZone),
    concurrency: withDefault("16", read.wholeNumber(1, 1024)),
    maxRps: optional(read.wholeNumber(1, 100_000)),
    requestTimeoutMs: withDefault("60s", read.timer),
    maxRetries: withDefault("4", read.wholeNumber(0, 100)),
    maxRetryWaitMs: withDefault("60s", read.timer),
    maxBodyBytes: withDefault("512MiB", read.size),
    fullEveryMs: withDefault("7d", read.interval),
    maxRemoved: withDefault("30%", read.share),
    // Not read, as it is good: the scheduler would be loaded for it.
    schedule: readBy(z.string(), read.cronSchedule).default("*/15 * * * *"),
    timezone: withDefault("UTC", read.timeZone),
    httpHost: withDefault("127.0.0.1", read.anyText),
    httpPort: withDefault("9464", read.wholeNumber(0, 65_535)),
    autoMigrate: withDefault("true", read.flag),
    stateDir: optional(read.anyText),
    logLevel: withDefault("info", read.oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent")),
    logFormat: withDefault("auto", read.oneOf("auto", "json", "pretty")),
  });
}

function optional<T>(reader: read.Reader<T>) {
  return readBy(z.string(), reader).nullable().default(null);
}

function withDefault<T>(fallback: string, reader: read.Reader<T>) {
  return readBy(z.string().default(fallback), reader);
}

function readBy<T>(source: z.ZodType<string, string | undefined>, reader: read.Reader<T>) {
  return source.transform((text, context): T => {
    const reading = reader(text);
    if ("value" in reading) return reading.value;
    context.issues.push({ code: "custom", message: reading.problem, input: null });
    return z.NEVER;
  });
}

function problemOf(issue: z.core.$ZodIssue): Problem {
  const field = issue.path[0] as Field;
  return { name: NAME_OF[field], text: issue.message };
}

/** Whether something is already said about the field or its file. */
function isTold(field: Field, problems: readonly Problem[]): boolean {
  return problems.some(({ name }) => name.startsWith(NAME_OF[field]));
}

function secretsOf({ apiKey, databaseUrl, databaseDirectUrl }: Texts): string[] {
  const urls = [databaseUrl, databaseDirectUrl].flatMap((url) => (url === undefined ? [] : databaseSecrets(url)));
  return apiKey === undefined ? urls : [apiKey, ...urls];
}

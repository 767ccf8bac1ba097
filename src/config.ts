import { z } from "zod";
import { type Environment, readSecretFiles } from "./config/environment.ts";
import { type Field, NAME_OF, type Name, SECRET_NAMES, unknownNames } from "./config/names.ts";
import * as read from "./config/readers.ts";
import { ConfigurationError, type ConfigurationProblem } from "./errors.ts";
import { createRedactor, databaseSecrets } from "./secrets.ts";
import type { Share } from "./units.ts";

/** The valid configuration. Durations are in milliseconds, sizes in bytes. */
export interface Config {
  /** Ends with a slash. Null only if the command needs no service. */
  readonly baseUrl: URL | null;
  /** Null only if the command needs no service. */
  readonly apiKey: string | null;
  readonly allowHttp: boolean;
  /** Null for the embedded database. */
  readonly databaseUrl: string | null;
  /** For migrations; equal to `databaseUrl` unless it is set. */
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
  /** Null for the default directory of the platform. */
  readonly stateDir: string | null;
  readonly logLevel: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  readonly logFormat: "auto" | "json" | "pretty";
  /** Names that look like a setting and are none. */
  readonly unknown: readonly string[];
  /** The source of each setting: `environment`, `.env`, or the path of a file; absent for a default. */
  readonly sources: Readonly<Partial<Record<Name, string>>>;
}

/** The services that a command connects to. */
export interface Needs {
  readonly service: boolean;
  /** If false, the settings of the database are not even read. */
  readonly database: boolean;
}

/**
 * Parses the environment, into which a `.env` file is merged already; `dotenv` holds the names taken from that file. An
 * empty value counts as unset. A setting of the service that the command does not need may be unset, but not invalid.
 * @throws ConfigurationError with every problem
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
  const isReported = (field: Field) => problems.some(({ name }) => name.startsWith(NAME_OF[field]));
  for (const field of needs.service ? (["baseUrl", "apiKey"] as const) : []) {
    if (texts[field] !== undefined || isReported(field)) continue;
    problems.push({ name: NAME_OF[field], problem: "is not set", expected: REQUIRED[field], hint: null });
  }
  if (texts.databaseDirectUrl !== undefined && texts.databaseUrl === undefined && !isReported("databaseUrl")) {
    const [problem, hint] = ["is set without DATABASE_URL", "set both, or only DATABASE_URL"];
    problems.push({ name: NAME_OF.databaseDirectUrl, problem, expected: null, hint });
  }
  if (problems.length > 0 || !parsed.success) throw configurationError(problems, secretsOf(texts));
  const databaseDirectUrl = parsed.data.databaseDirectUrl ?? parsed.data.databaseUrl;
  return { ...parsed.data, databaseDirectUrl, unknown: unknownNames(environment), sources };
}

type Texts = Readonly<Partial<Record<Field, string>>>;

/** Descriptions of the required settings. */
const REQUIRED = {
  baseUrl: "the service's base URL, such as https://api.example.com/v1/",
  apiKey: "the service's API key, here or in the file that SIMCAT_API_KEY_FILE names",
};

function schemaFor(allowHttp: boolean) {
  return z.object({
    baseUrl: optional(read.baseUrl(allowHttp)),
    allowHttp: withDefault("false", read.flag),
    apiKey: optional(read.apiKey),
    databaseUrl: optional(read.databaseUrl),
    databaseDirectUrl: optional(read.databaseUrl),
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
    // The default bypasses the reader, which would load the scheduler to check it.
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
    context.issues.push({ code: "custom", message: reading.problem, params: reading, input: null });
    return z.NEVER;
  });
}

/** The reading that `readBy` attached to an issue. */
function problemOf(issue: z.core.$ZodIssue): ConfigurationProblem {
  const field = issue.path[0] as Field;
  const { expected, hint } = (issue.code === "custom" ? (issue.params ?? {}) : {}) as {
    expected?: string;
    hint?: string;
  };
  return { name: NAME_OF[field], problem: issue.message, expected: expected ?? null, hint: hint ?? null };
}

/** One error for all problems. Secrets are masked, because people paste them into the wrong setting. */
function configurationError(problems: readonly ConfigurationProblem[], secrets: readonly string[]): ConfigurationError {
  const redact = createRedactor(secrets);
  const count = problems.length === 1 ? "one problem" : `${problems.length} problems`;
  return new ConfigurationError(`the configuration has ${count}:`, {
    problems: problems.map(({ name, problem, expected, hint }) => ({
      name,
      problem: redact(problem),
      expected: expected && redact(expected),
      hint: hint && redact(hint),
    })),
  });
}

function secretsOf({ apiKey, databaseUrl, databaseDirectUrl }: Texts): string[] {
  const urls = [databaseUrl, databaseDirectUrl].flatMap((url) => (url === undefined ? [] : databaseSecrets(url)));
  return apiKey === undefined ? urls : [apiKey, ...urls];
}

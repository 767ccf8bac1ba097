import { readSecretFiles } from "./config/environment.ts";
import type { Environment } from "./config/readers.ts";
import { type Name, SECRET_NAMES, SETTINGS, type SettingField, type Settings } from "./config/settings.ts";
import { unknownNames } from "./config/unknown-names.ts";
import { ConfigurationError, type ConfigurationProblem } from "./errors.ts";
import { createRedactor, environmentSecrets } from "./secrets.ts";

/** The valid configuration. */
export interface Config extends Settings {
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
  /** The command is about everything: a slice is a problem. */
  readonly whole?: boolean;
}

/** The settings that a command with the service requires. */
const REQUIRED: readonly (readonly [Name, string])[] = [
  ["SIMCAT_BASE_URL", "the service's base URL, such as https://api.example.com/v1/"],
  ["SIMCAT_API_KEY", "the service's API key, here or in the file that SIMCAT_API_KEY_FILE names"],
];

/**
 * Parses the environment, into which a `.env` file is merged already; `dotenv` holds the names taken from that file. An
 * empty value counts as unset. A setting of the service that the command does not need may be unset, but not invalid.
 * @throws ConfigurationError with every problem
 */
export function loadConfig(environment: Environment, needs: Needs, dotenv: ReadonlySet<string> = new Set()): Config {
  const names = SECRET_NAMES.filter((name) => needs.database || !name.startsWith("DATABASE_"));
  const files = readSecretFiles(environment, names);
  const problems: ConfigurationProblem[] = [...files.problems];
  const sources: Partial<Record<Name, string>> = {};
  const values: Partial<Record<SettingField, unknown>> = {};
  for (const [field, { name, fallback, read }] of Object.entries(SETTINGS)) {
    const isRead = needs.database || !name.startsWith("DATABASE_");
    const given = isRead ? files.values[name] || environment[name] || null : null;
    if (given !== null) sources[name] = files.paths[name] ?? (dotenv.has(name) ? ".env" : "environment");
    const text = given ?? fallback;
    const reading = text === null ? { value: null } : read(text, environment);
    if ("value" in reading) values[field as SettingField] = reading.value;
    else problems.push({ name, expected: null, hint: null, ...reading });
  }
  const isMissing = (name: Name) => !(name in sources) && !problems.some((problem) => problem.name.startsWith(name));
  for (const [name, expected] of needs.service ? REQUIRED : []) {
    if (isMissing(name)) problems.push({ name, problem: "is not set", expected, hint: null });
  }
  if ("DATABASE_DIRECT_URL" in sources && isMissing("DATABASE_URL")) {
    const [problem, hint] = ["is set without DATABASE_URL", "set both, or only DATABASE_URL"];
    problems.push({ name: "DATABASE_DIRECT_URL", problem, expected: null, hint });
  }
  const { slice, maxRps } = values as Settings;
  if (needs.service && slice && "maxRps" in values && (maxRps ?? 0) < slice.count) {
    const expected = `the requests per second that the service allows, at least ${slice.count}: each of ${slice.count} slices takes its share`;
    const problem = maxRps === null ? "is not set" : `is ${maxRps}`;
    problems.push({ name: "SIMCAT_MAX_RPS", problem, expected, hint: null });
  }
  if (needs.whole && slice) {
    const hint = "unset it: only simcat sync and simcat backfill take a slice";
    problems.push({ name: "SIMCAT_SLICE", problem: "is set, and this command takes none", expected: null, hint });
  }
  if (problems.length > 0) throw configurationError(problems, environmentSecrets({ ...environment, ...files.values }));
  const settings = values as Settings;
  const databaseDirectUrl = settings.databaseDirectUrl ?? settings.databaseUrl;
  return { ...settings, databaseDirectUrl, unknown: unknownNames(environment), sources };
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

/** Every setting for display: its value without secrets, null when unset, and its source, or `default`. */
export function describeConfig(config: Config) {
  return Object.entries(SETTINGS).map(([field, { name, show }]) => {
    const value = config[field as SettingField];
    // Each value has the type that its own reader returns.
    return { name, value: value === null ? null : show(value as never), source: config.sources[name] ?? "default" };
  });
}

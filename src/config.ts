import { distance } from "fastest-levenshtein";
import { readSecretFiles } from "./config/environment.ts";
import type { Environment } from "./config/readers.ts";
import { NAMES, type Name, SECRET_NAMES, SETTINGS, type SettingField, type Settings } from "./config/settings.ts";
import { ConfigurationError } from "./errors.ts";
import { createRedactor, environmentSecrets } from "./secrets.ts";

/** The valid configuration. */
export interface Config extends Settings {
  /** The settings that are not defaults: their texts without secrets, and the path of the file that contains one. */
  readonly given: readonly { readonly name: Name; readonly text: string; readonly file: string | undefined }[];
  /** Everything that no message may show. */
  readonly secrets: readonly string[];
}

/** With the settings that the service requires. */
export type ServiceConfig = Config & { readonly baseUrl: URL; readonly apiKey: string };

/** The services that a command connects to. */
export interface Needs {
  readonly service: boolean;
  /** If false, the settings of the database are not even read. */
  readonly database: boolean;
  /** The command is about everything: a slice is a problem. */
  readonly whole?: boolean;
}

export type ConfigFor<N extends Needs> = N extends { readonly service: true } ? ServiceConfig : Config;

/** A missing or invalid setting. It never contains a secret. */
export interface ConfigurationProblem {
  /** The setting's name in the environment. */
  readonly name: string;
  /** The predicate of a sentence that begins with the name: `is "x"`, `is not set`. */
  readonly problem: string;
  /** What is expected, or the action that solves it. */
  readonly hint: string;
}

/** The configuration. The parameters are those of `parseConfig`. @throws ConfigurationError with every problem */
export function loadConfig<const N extends Needs>(environment: Environment, needs: N): ConfigFor<N> {
  const { config, problems } = parseConfig(environment, needs);
  if (problems.length === 0) return config;
  const count = problems.length === 1 ? "one problem" : `${problems.length} problems`;
  const lines = problems.map(({ name, problem, hint }) => `  ${name} ${problem}; ${hint}`);
  throw new ConfigurationError([`the configuration has ${count}:`, ...lines].join("\n"));
}

/**
 * Parses the environment. An empty value counts as unset. A setting of the service that is not needed may be unset, not invalid.
 * @returns every problem, and the configuration, in which a setting with a problem has its default
 */
export function parseConfig<const N extends Needs>(environment: Environment, needs: N) {
  const problems: ConfigurationProblem[] = [];
  const addProblem = (name: string, problem: string, hint: string) => problems.push({ name, problem, hint });
  const isRead = (name: Name) => needs.database || !name.startsWith("DATABASE_");
  const { texts, files } = readSecretFiles(environment, SECRET_NAMES.filter(isRead), addProblem);
  const given: Config["given"][number][] = [];
  const values: Partial<Record<SettingField, unknown>> = {};
  for (const [field, { name, fallback, read, show }] of Object.entries(SETTINGS)) {
    const text = isRead(name) ? texts[name] : undefined;
    if (text) given.push({ name, text: show(text), file: files[name] });
    try {
      // Some readers load a package or data that few commands need, so not for the default.
      values[field as SettingField] = !text || text === fallback ? fallback : read(text, environment);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      addProblem(name, error.summary, error.hint ?? "");
      values[field as SettingField] = fallback;
    }
  }
  const isInvalid = (name: Name) => problems.some((problem) => problem.name.startsWith(name));
  const isGiven = (name: Name) => given.some((one) => one.name === name);
  const isMissing = (name: Name) => !isGiven(name) && !isInvalid(name);
  if (needs.service && isMissing("SIMCAT_BASE_URL"))
    addProblem("SIMCAT_BASE_URL", "is not set", "expected the service's base URL, such as https://api.example.com/v1/");
  if (needs.service && isMissing("SIMCAT_API_KEY")) {
    const hint = "expected the service's API key, here or in the file that SIMCAT_API_KEY_FILE names";
    addProblem("SIMCAT_API_KEY", "is not set", hint);
  }
  if (isGiven("DATABASE_DIRECT_URL") && isMissing("DATABASE_URL"))
    addProblem("DATABASE_DIRECT_URL", "is set without DATABASE_URL", "set both, or only DATABASE_URL");
  const settings = values as Settings;
  const { slice, maxRps } = settings;
  if (needs.service && slice && !isInvalid("SIMCAT_MAX_RPS") && (maxRps ?? 0) < slice.count) {
    const hint = `expected the requests per second that the service allows, at least ${slice.count}: each of ${slice.count} slices takes its share`;
    addProblem("SIMCAT_MAX_RPS", maxRps === null ? "is not set" : `is ${maxRps}`, hint);
  }
  if (needs.whole && slice) {
    const hint = "unset it: only simcat sync and simcat backfill take a slice";
    addProblem("SIMCAT_SLICE", "is set, and this command takes none", hint);
  }
  const secrets = environmentSecrets(texts);
  const redact = createRedactor(secrets); // People paste secrets into the wrong setting.
  return {
    config: { ...settings, given, secrets } as ConfigFor<N>,
    problems: problems.map(({ name, problem, hint }) => ({ name, problem: redact(problem), hint: redact(hint) })),
  };
}

const KNOWN: readonly string[] = [...NAMES, ...SECRET_NAMES.map((name) => `${name}_FILE`)];
const PREFIX = "SIMCAT_";
/** A name with at most this many wrong letters counts as a misspelt setting. */
const MAX_WRONG_LETTERS = 2;

/** Names that look like misspelt settings; not DATABASE_HOST, DB_URL and the like, which another program may use. */
export function findUnknownSettings(environment: Environment) {
  const unknown = Object.keys(environment).filter((name) => !KNOWN.includes(name));
  return unknown.flatMap((name) => {
    // It may have the prefix too much.
    const spellings = [name.toUpperCase(), name.toUpperCase().replace(PREFIX, "")];
    const distanceTo = (known: string) => Math.min(...spellings.map((one) => distance(one, known)));
    const near = KNOWN.filter((known) => distanceTo(known) <= MAX_WRONG_LETTERS);
    const [nearest] = near.sort((a, b) => distanceTo(a) - distanceTo(b));
    if (nearest === undefined && !name.startsWith(PREFIX)) return [];
    const hint = nearest === undefined ? null : `did you mean ${nearest}?`;
    return [{ text: `unknown setting ${name} (ignored)`, hint }];
  });
}

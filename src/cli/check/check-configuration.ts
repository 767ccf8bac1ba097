import { type Config, type ConfigFor, describeConfig, findUnknownSettings, type Needs } from "../../config.ts";
import { ConfigurationError, type ConfigurationProblem, EXIT } from "../../errors.ts";
import { plural } from "../../format.ts";
import { type CheckLine, fail, ok, warn } from "../../output/check.ts";
import type { Context } from "../context.ts";
import { describeExposed, loadSettings } from "../settings.ts";

const CHECK = "configuration";

/** One line for a valid configuration, otherwise one for each problem; and warnings. */
export function checkConfiguration(context: Context): CheckLine[] {
  const { config, problems } = tryToLoad(context, { service: true, database: true });
  const lines = config === null || problems.length > 0 ? problems.map(problemLine) : [settingsLine(config)];
  const exposed = describeExposed(context) ?? [];
  const doubts = [...findUnknownSettings(context.environment), exposed].flat();
  return [...lines, ...doubts.map(({ text, hint }) => warn(CHECK, text, hint ?? "remove it"))];
}

/** A line for each problem of the settings that `isMeant` names. */
export function checkSettings(context: Context, isMeant: (name: string) => boolean): CheckLine[] {
  const { problems } = tryToLoad(context, { service: true, database: true });
  return problems.filter(({ name }) => isMeant(name)).map(problemLine);
}

/** Node reads this variable from the environment of the process only, so it has no effect in a `.env` file. */
const VERIFY_NAME = "NODE_TLS_REJECT_UNAUTHORIZED";

function findTlsProblem({ environment, dotenv }: Context): ConfigurationProblem[] {
  if (environment[VERIFY_NAME] !== "0" || dotenv.has(VERIFY_NAME)) return [];
  const problem = "is 0: any server can pretend to be the service, and receives the key";
  const hint = "unset it; NODE_EXTRA_CA_CERTS can name a file with the certificates of your own authority";
  return [{ name: VERIFY_NAME, problem, hint }];
}

/**
 * The settings that another check needs, without those that are invalid: they have a line already.
 * Null if an `essential` setting is invalid.
 */
export function loadEssential<N extends Needs>(
  context: Context,
  needs: N,
  essential: readonly string[],
): ConfigFor<N> | null {
  const { config, problems } = tryToLoad(context, needs);
  if (config !== null) return config;
  const invalid = problems.map(({ name }) => name);
  if (invalid.some((name) => essential.includes(name.replace(/_FILE$/, "")))) return null;
  const valid = Object.entries(context.environment).filter(([name]) => !invalid.includes(name));
  return tryToLoad({ ...context, environment: Object.fromEntries(valid) }, needs).config;
}

function tryToLoad<N extends Needs>(
  context: Context,
  needs: N,
): { readonly config: ConfigFor<N> | null; readonly problems: readonly ConfigurationProblem[] } {
  const tlsProblem = findTlsProblem(context);
  try {
    return { config: loadSettings({ ...context, note: () => {}, draw: () => {} }, needs), problems: tlsProblem };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { config: null, problems: [...error.problems, ...tlsProblem] };
  }
}

function problemLine({ name, problem, hint }: ConfigurationProblem): CheckLine {
  return fail(CHECK, EXIT.configuration, `${name} ${problem}`, hint);
}

function settingsLine(config: Config): CheckLine {
  const given = describeConfig(config).filter(({ source }) => source !== "default");
  const details = given.map(({ name, value, source }) => `${name}=${value ?? ""} (${source})`);
  return ok(CHECK, `${plural(given.length, "setting")} given, the others have their defaults`, details);
}

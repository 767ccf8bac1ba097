import { describeConfig } from "../../config/describe.ts";
import { describeUnknown, unknownNames } from "../../config/names.ts";
import type { Config, Needs } from "../../config.ts";
import { ConfigurationError, type ConfigurationProblem, EXIT } from "../../errors.ts";
import { plural } from "../../format.ts";
import type { CheckLine } from "../../report/check.ts";
import type { Context } from "../context.ts";
import { loadSettings } from "../settings.ts";
import { fail, ok, warn } from "./lines.ts";

const CHECK = "configuration";

/** One line for a valid configuration, otherwise one for each problem; and a warning for each unknown setting. */
export function checkConfiguration(context: Context): CheckLine[] {
  const { config, problems } = tryToLoad(context, { service: true, database: true });
  const lines = config === null ? problems.map(problemLine) : [settingsLine(config)];
  return [...lines, ...unknownNames(context.environment).map(unknownLine)];
}

/**
 * The settings that another check needs, without those that are invalid: they have a line already.
 * Null if an `essential` setting is invalid.
 */
export function loadEssential(context: Context, needs: Needs, essential: readonly string[]): Config | null {
  const { config, problems } = tryToLoad(context, needs);
  if (config !== null) return config;
  const invalid = problems.map(({ name }) => name);
  if (invalid.some((name) => essential.includes(name.replace(/_FILE$/, "")))) return null;
  const valid = Object.entries(context.environment).filter(([name]) => !invalid.includes(name));
  return tryToLoad({ ...context, environment: Object.fromEntries(valid) }, needs).config;
}

function tryToLoad(
  context: Context,
  needs: Needs,
): { readonly config: Config | null; readonly problems: readonly ConfigurationProblem[] } {
  try {
    return { config: loadSettings({ ...context, note: () => {}, draw: () => {} }, needs), problems: [] };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { config: null, problems: error.problems };
  }
}

function problemLine({ name, problem, expected, hint }: ConfigurationProblem): CheckLine {
  return fail(CHECK, EXIT.configuration, `${name} ${problem}`, expected === null ? hint : `give ${expected}`);
}

function settingsLine(config: Config): CheckLine {
  const given = describeConfig(config).filter(({ source }) => source !== "default");
  const details = given.map(({ name, value, source }) => `${name}=${value ?? ""} (${source})`);
  return ok(CHECK, `${plural(given.length, "setting")} given, the others have their defaults`, details);
}

function unknownLine(name: string): CheckLine {
  const { text, hint } = describeUnknown(name);
  return warn(CHECK, text, hint ?? "remove it");
}

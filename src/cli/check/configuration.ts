import { describeConfig } from "../../config/describe.ts";
import { nearestName, unknownNames } from "../../config/names.ts";
import type { Config, Needs } from "../../config.ts";
import { ConfigurationError, EXIT } from "../../errors.ts";
import { plural } from "../../format.ts";
import type { CheckLine } from "../../report/check.ts";
import type { Context } from "../context.ts";
import { loadSettings } from "../settings.ts";
import { fail, ok, splitHint, warn } from "./lines.ts";

const CHECK = "configuration";

/** What the configuration is, or a line for each problem of it; names that mean nothing are warned of. */
export function checkConfiguration(context: Context): CheckLine[] {
  const loaded = load(context, { service: true, database: true });
  const told = Array.isArray(loaded)
    ? loaded.map(({ name, text }) => tellProblem(`${name} ${text}`))
    : [tellSettings(loaded)];
  return [...told, ...unknownNames(context.environment).map(tellUnknown)];
}

/**
 * The settings that one of the other checks needs, without those of the rest that are wrong: they are told apart.
 * Null when `essential` ones are among the wrong.
 */
export function loadEssential(context: Context, needs: Needs, essential: readonly string[]): Config | null {
  const loaded = load(context, needs);
  if (!Array.isArray(loaded)) return loaded;
  const wrong = loaded.map(({ name }) => name);
  if (wrong.some((name) => essential.includes(name.replace(/_FILE$/, "")))) return null;
  const environment = Object.fromEntries(Object.entries(context.environment).filter(([name]) => !wrong.includes(name)));
  const rest = load({ ...context, environment }, needs);
  return Array.isArray(rest) ? null : rest;
}

interface Problem {
  readonly name: string;
  readonly text: string;
}

function load(context: Context, needs: Needs): Config | Problem[] {
  try {
    return loadSettings({ ...context, note: () => {}, draw: () => {} }, needs);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const [, ...problems] = error.message.split("\n");
    return problems.map((line) => {
      const [, name = "", text = ""] = /^ *(\S+) (.*)$/.exec(line) ?? [];
      return { name, text };
    });
  }
}

function tellProblem(problem: string): CheckLine {
  const { text, hint } = splitHint(problem);
  return fail(CHECK, EXIT.configuration, text, hint);
}

function tellSettings(config: Config): CheckLine {
  const given = describeConfig(config).filter(({ source }) => source !== "default");
  const details = given.map(({ name, value, source }) => `${name}=${value ?? ""} (${source})`);
  return ok(CHECK, `${plural(given.length, "setting")} given, the others as by default`, details);
}

function tellUnknown(name: string): CheckLine {
  const near = nearestName(name);
  const hint = near === null ? "take it out" : `is ${near} meant?`;
  return warn(CHECK, `${name} is no setting of simcat's and has no effect`, hint);
}

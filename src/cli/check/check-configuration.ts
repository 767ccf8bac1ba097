import { type ConfigurationProblem, parseConfig, type ServiceConfig } from "../../config.ts";
import { EXIT } from "../../errors.ts";
import { plural } from "../../format.ts";
import { type CheckLine, fail, ok, warn } from "../../output/check-lines.ts";
import type { Context } from "../context.ts";
import { findDoubts } from "../load-settings.ts";

const CHECK = "configuration";

/** One line for a valid configuration, otherwise one for each problem; and warnings. */
export function checkConfiguration(context: Context): CheckLine[] {
  const { config, problems } = parseAll(context);
  const details = config.given.map(({ name, text, file }) => {
    const source = context.dotenv.has(name) ? ".env" : "environment";
    return `${name}=${text} (${file ?? source})`;
  });
  const settings = `${plural(details.length, "setting")} given, the others have their defaults`;
  const lines = problems.length > 0 ? problems.map(problemLine) : [ok(CHECK, settings, details)];
  return [...lines, ...findDoubts(context).map(({ text, hint }) => warn(CHECK, text, hint ?? "remove it"))];
}

/** A line for each problem of the settings that `isMeant` names. */
export function checkSettings(context: Context, isMeant: (name: string) => boolean): CheckLine[] {
  return parseAll(context)
    .problems.filter(({ name }) => isMeant(name))
    .map(problemLine);
}

function parseAll({ environment, dotenv, hide }: Context) {
  const { config, problems } = parseConfig(environment, { service: true, database: true });
  hide(config.secrets);
  // Node reads it from the environment of the process only, so it has no effect in a `.env` file.
  const name = "NODE_TLS_REJECT_UNAUTHORIZED";
  if (environment[name] === "0" && !dotenv.has(name)) {
    const problem = "is 0: any server can pretend to be the service, and receives the key";
    const hint = "unset it; NODE_EXTRA_CA_CERTS can name a file with the certificates of your own authority";
    problems.push({ name, problem, hint });
  }
  return { config, problems };
}

/** The settings that another check needs; null if an `essential` one is invalid. The others have a line already if they are. */
export function loadEssential(context: Context, essential: readonly string[]): ServiceConfig | null {
  const { config, problems } = parseAll(context);
  return problems.some(({ name }) => essential.includes(name.replace(/_FILE$/, ""))) ? null : config;
}

function problemLine({ name, problem, hint }: ConfigurationProblem): CheckLine {
  return fail(CHECK, EXIT.configuration, `${name} ${problem}`, hint);
}

import { type ConfigFor, findUnknownSettings, loadConfig, type Needs, type ServiceConfig } from "../config.ts";
import { UsageError } from "../errors.ts";
import { shellWord } from "../key.ts";
import { isEverything, parseSelection } from "../sync/rules/selection.ts";
import type { JsonOptions } from "./command.ts";
import type { Context } from "./context.ts";
import { notify } from "./notify.ts";

/** Loads the configuration, hides its secrets, and warns of doubts. @throws ConfigurationError with every problem */
export function loadSettings<const N extends Needs>(context: Context, needs: N): ConfigFor<N> {
  const config = loadConfig(context.environment, needs);
  context.hide(config.secrets);
  for (const { code, text, hint } of findDoubts(context))
    notify(context, config, "warn", code, hint === null ? text : `${text}; ${hint}`);
  return config;
}

/** What no command fails for: unknown settings, and a `.env` file with a secret that other users may read. */
export function findDoubts({ environment, exposedDotenv }: Context) {
  const unknown = findUnknownSettings(environment).map((one) => ({ code: "unknown_setting", ...one }));
  if (exposedDotenv === undefined) return unknown;
  const text = `other users can read the secrets in ${exposedDotenv}`;
  return [...unknown, { code: "dotenv_exposed", text, hint: `run chmod 600 ${shellWord(exposedDotenv)}` }];
}

/** Reads the API key again: a rotated key in a file needs no restart. @throws ConfigurationError if the file has none */
export function withCurrentKey(context: Context, config: ServiceConfig): ServiceConfig {
  const { apiKey } = loadConfig(context.environment, { service: true, database: false });
  if (apiKey === config.apiKey) return config;
  context.hide([apiKey]);
  return { ...config, apiKey };
}

export interface SelectionOptions extends JsonOptions {
  readonly library: readonly string[];
  readonly owner: readonly string[];
  readonly slice?: string;
}

/** The selection that the options and `SIMCAT_SLICE` ask for, with the settings for it: a slice has its share of the request rate. */
export function loadSelection(context: Context, { library, owner, slice }: SelectionOptions) {
  const selection = parseSelection(library, owner);
  const environment = slice === undefined ? context.environment : { ...context.environment, SIMCAT_SLICE: slice };
  const config = loadSettings({ ...context, environment }, { service: true, database: true });
  if (config.slice === null) return { config, selection };
  if (!isEverything(selection)) {
    throw new UsageError("a slice is a selection of its own", {
      hint: "leave out --library and --owner, or the slice",
    });
  }
  const maxRps = config.maxRps && config.maxRps / config.slice.count;
  return { config: { ...config, maxRps }, selection: { ...selection, slice: config.slice } };
}

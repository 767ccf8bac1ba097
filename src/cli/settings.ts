import { describeUnknown } from "../config/names.ts";
import { type Config, loadConfig, type Needs } from "../config.ts";
import { databaseSecrets } from "../secrets.ts";
import type { Context } from "./context.ts";
import { notify } from "./notify.ts";

/** A configuration with the required settings of the service. */
export type ServiceConfig = Config & { readonly baseUrl: URL; readonly apiKey: string };

/**
 * Loads the configuration, hides its secrets from all output, and warns about unknown settings.
 * @throws ConfigurationError with every problem
 */
export function loadSettings(context: Context, needs: Needs): Config {
  const config = loadConfig(context.environment, needs, context.dotenv);
  const { apiKey, databaseUrl, databaseDirectUrl } = config;
  const urls = [databaseUrl, databaseDirectUrl].flatMap((url) => (url === null ? [] : databaseSecrets(url)));
  context.hide(apiKey === null ? urls : [apiKey, ...urls]);
  for (const name of config.unknown) {
    const { text, hint } = describeUnknown(name);
    notify(context, config, "warn", "unknown_setting", hint === null ? text : `${text}; ${hint}`);
  }
  return config;
}

/** The same for a command that connects to the service. */
export function loadServiceSettings(context: Context): ServiceConfig {
  const config = loadSettings(context, { service: true, database: true });
  if (config.baseUrl === null || config.apiKey === null)
    throw new Error("loadConfig returned without a required setting");
  return { ...config, baseUrl: config.baseUrl, apiKey: config.apiKey };
}

/**
 * Reads the API key again, so that a rotated key in a file needs no restart.
 * @throws ConfigurationError if the file cannot be read or contains no key
 */
export function withCurrentKey(context: Context, config: ServiceConfig): ServiceConfig {
  const { apiKey } = loadConfig(context.environment, { service: true, database: false }, context.dotenv);
  if (apiKey === null || apiKey === config.apiKey) return config;
  context.hide([apiKey]);
  return { ...config, apiKey };
}

import { nearestName } from "../config/names.ts";
import { type Config, loadConfig, type Needs } from "../config.ts";
import { databaseSecrets } from "../secrets.ts";
import type { Context } from "./context.ts";
import { tellBeside } from "./tell-beside.ts";

export type ServiceConfig = Config & { readonly baseUrl: URL; readonly apiKey: string };

/** The checked configuration; its secrets are hidden from everything that is printed from here on. */
export function loadSettings(context: Context, needs: Needs): Config {
  const config = loadConfig(context.environment, needs, context.dotenv);
  const { apiKey, databaseUrl, databaseDirectUrl } = config;
  const urls = [databaseUrl, databaseDirectUrl].flatMap((url) => (url === null ? [] : databaseSecrets(url)));
  context.hide(apiKey === null ? urls : [apiKey, ...urls]);
  for (const name of config.unknown) tellBeside(context, config, "warn", "unknown_setting", sayUnknown(name));
  return config;
}

function sayUnknown(name: string): string {
  const near = nearestName(name);
  return `${name} is no setting of simcat's and has no effect${near === null ? "" : `; is ${near} meant?`}`;
}

/** The same, for commands that talk to the service. */
export function loadServiceSettings(context: Context): ServiceConfig {
  const config = loadSettings(context, { service: true, database: true });
  if (config.baseUrl === null || config.apiKey === null) throw new Error("loadConfig let a needed setting pass unset");
  return { ...config, baseUrl: config.baseUrl, apiKey: config.apiKey };
}

/**
 * The same with the key as its file has it now, so that a rotated one needs no restart.
 * @throws ConfigurationError where the file cannot be read, or holds no key
 */
export function withCurrentKey(context: Context, config: ServiceConfig): ServiceConfig {
  const { apiKey } = loadConfig(context.environment, { service: true, database: false }, context.dotenv);
  if (apiKey === null || apiKey === config.apiKey) return config;
  context.hide([apiKey]);
  return { ...config, apiKey };
}

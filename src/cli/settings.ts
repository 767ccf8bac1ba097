import { type Config, loadConfig, type Needs } from "../config.ts";
import { databaseSecrets } from "../secrets.ts";
import type { Context } from "./context.ts";

export type ServiceConfig = Config & { readonly baseUrl: URL; readonly apiKey: string };

/** The checked configuration; its secrets are hidden from everything that is printed from here on. */
export function loadSettings(context: Context, needs: Needs): Config {
  const config = loadConfig(context.environment, needs, context.dotenv);
  const { apiKey, databaseUrl, databaseDirectUrl } = config;
  const urls = [databaseUrl, databaseDirectUrl].flatMap((url) => (url === null ? [] : databaseSecrets(url)));
  context.hide(apiKey === null ? urls : [apiKey, ...urls]);
  for (const name of config.unknown) context.note(`simcat: ${name} is no setting of simcat's; it has no effect`);
  return config;
}

/** The same, for commands that talk to the service. */
export function loadServiceSettings(context: Context): ServiceConfig {
  const config = loadSettings(context, { service: true, database: true });
  if (config.baseUrl === null || config.apiKey === null) throw new Error("loadConfig let a needed setting pass unset");
  return { ...config, baseUrl: config.baseUrl, apiKey: config.apiKey };
}

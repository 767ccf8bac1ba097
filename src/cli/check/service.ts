import { UnauthorizedError } from "../../errors.ts";
import { plural } from "../../format.ts";
import type { CheckLine } from "../../report/check.ts";
import type { Context } from "../context.ts";
import type { ServiceConfig } from "../settings.ts";
import { withService } from "../with-service.ts";
import { loadEssential } from "./configuration.ts";
import { checkContent } from "./content.ts";
import { failedBy, ok, skipped } from "./lines.ts";
import { checkListing } from "./listing.ts";

const ESSENTIAL = ["SIMCAT_BASE_URL", "SIMCAT_API_KEY"];

/** Whoever checks is waiting for the answer; a run is more patient. */
const RETRIES = 1;

/** Asks for the listing, and for one library's content: does the service answer, does it take the key, can its answers be read? */
export async function checkService(context: Context): Promise<CheckLine[]> {
  const config = loadEssential(context, { service: true, database: false }, ESSENTIAL);
  if (config === null || config.baseUrl === null || config.apiKey === null) {
    return ["service", "key"].map((check) => skipped(check, "the configuration must be mended first"));
  }
  const { baseUrl, apiKey } = config;
  const maxRetries = Math.min(config.maxRetries, RETRIES);
  return listOnce(context, { ...config, baseUrl, apiKey, maxRetries });
}

async function listOnce(context: Context, config: ServiceConfig): Promise<CheckLine[]> {
  const { href } = config.baseUrl;
  try {
    return await withService(context, config, {}, async (service) => {
      const listing = await service.listLibraries(context.stop);
      const count = plural(listing.libraries.length, "library", "libraries");
      const answered = ok("service", `${href} answered; ${count} listed`);
      const content = await checkContent(service, listing, context.stop);
      return [answered, ok("key", "the service takes it"), ...checkListing(listing, config), ...content];
    });
  } catch (error) {
    context.stop.throwIfAborted();
    if (error instanceof UnauthorizedError) return [ok("service", `${href} answered`), failedBy("key", error)];
    return [failedBy("service", error), skipped("key", "the service must answer first")];
  }
}

import type { Config } from "../../config.ts";
import { ContentError, EXIT, UnauthorizedError } from "../../errors.ts";
import { formatLibraries, plural } from "../../format.ts";
import { formatKey } from "../../key.ts";
import type { Listing, Reject } from "../../model.ts";
import { type CheckLine, fail, failedBy, ok, skipped, warn } from "../../output/check-lines.ts";
import { DISCARD, type Service } from "../../service/client.ts";
import type { Context } from "../context.ts";
import { withWatchedService } from "../show-progress.ts";
import { loadEssential } from "./check-configuration.ts";

/** Requests the listing and the content of one library. */
export async function checkService(context: Context): Promise<CheckLine[]> {
  const config = loadEssential(context, ["SIMCAT_BASE_URL", "SIMCAT_API_KEY"]);
  if (config === null) return ["service", "key"].map((check) => skipped(check, "requires a valid configuration"));
  const { href } = config.baseUrl;
  // Fewer retries than a run makes, because a person is waiting for the result.
  const impatient = { ...config, maxRetries: Math.min(config.maxRetries, 1) };
  try {
    return await withWatchedService(context, impatient, async (service) => {
      const listing = await service.listLibraries(context.stop);
      const count = formatLibraries(listing.libraries.length);
      const answered = ok("service", `${href} answered; ${count} listed`);
      const content = await checkContent(service, listing, context.stop);
      return [answered, ok("key", "the service accepts it"), checkListing(listing, config), ...content];
    });
  } catch (error) {
    context.stop.throwIfAborted();
    if (error instanceof UnauthorizedError) return [ok("service", `${href} answered`), failedBy("key", error)];
    return [failedBy("service", error), skipped("key", "requires an answer of the service")];
  }
}

/** Checks that every entry of the listing can be stored and that the listing is complete. */
export function checkListing(listing: Listing, { defaultOwner }: Pick<Config, "defaultOwner">): CheckLine {
  const { incomplete, libraries } = listing;
  // That it is one page of several is no entry that cannot be stored: `incomplete` says it.
  const rejects = listing.rejects.filter(({ code }) => code !== "paged_answer");
  const withheld = incomplete === null ? [] : [`${incomplete}; nothing is marked as removed while that is so`];
  if (rejects.length > 0) {
    const lacksOwner = rejects.some(({ code, path }) => code === "missing_field" && path === "uploadUser");
    const hint = "set SIMCAT_DEFAULT_OWNER to the owner of the entries that name none in uploadUser";
    const text = plural(rejects.length, "entry cannot be stored", "entries cannot be stored");
    const details = [...describeRejects(rejects), ...withheld];
    return warn("listing", text, lacksOwner && defaultOwner === null ? hint : null, details);
  }
  if (incomplete !== null) return warn("listing", "is incomplete", null, withheld);
  return ok("listing", libraries.length === 0 ? "is empty" : "every entry can be read");
}

/** The first three rejects. */
const describeRejects = (rejects: readonly Omit<Reject, "key" | "payload">[]) =>
  rejects.slice(0, 3).map(({ kind, path, reason }) => [kind, path, reason].filter(Boolean).join(" "));

/** Reads the content of the first listed library, and of up to two more if that fails. No line for an empty listing. */
async function checkContent(service: Service, listing: Listing, signal: AbortSignal): Promise<CheckLine[]> {
  const failed: { readonly text: string; readonly error: ContentError }[] = [];
  for (const { key } of listing.libraries) {
    // One library may be broken or just removed, but not three.
    if (failed.length === 3) break;
    try {
      const { items, rejects } = await service.readContent(key, DISCARD, signal);
      const text = `${formatKey(key)} can be read: metadata and ${plural(items, "scenario")}`;
      const others = failed.map((one) => one.text);
      if (others.length > 0)
        return [warn("content", `${text}; ${plural(others.length, "other")} cannot`, null, others)];
      if (rejects.length === 0) return [ok("content", text)];
      return [
        warn("content", `${text}; ${plural(rejects.length, "item")} cannot be stored`, null, describeRejects(rejects)),
      ];
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ContentError)) return [failedBy("content", error)];
      failed.push({ text: `${formatKey(key)}: ${error.message} (${error.code})`, error });
      // A service that is silent or refuses requests would be waited for again.
      if (contentExitCode(error) === EXIT.source_unavailable && error.code !== "server_error") break;
    }
  }
  const [first, ...others] = failed;
  if (first === undefined) return [];
  const hint = first.error.unavailable
    ? "try again later; if it lasts, ask the service's operators"
    : "check that SIMCAT_BASE_URL is the service's, and what the key may read";
  const line = fail("content", contentExitCode(first.error), first.text, hint);
  return [{ ...line, details: others.map((one) => one.text) }];
}

/** 69 means that the service does not answer; otherwise its answers are not those of the Simulation Cloud. */
function contentExitCode({ code, unavailable }: ContentError): number {
  if (unavailable) return EXIT.source_unavailable;
  return code === "unauthorized" ? EXIT.unauthorized : EXIT.source_untrusted;
}

import { ContentError, EXIT } from "../../errors.ts";
import { plural } from "../../format.ts";
import { formatKey } from "../../key.ts";
import type { LibraryKey, Listing, ScenarioSink } from "../../model.ts";
import type { CheckLine } from "../../report/check.ts";
import type { Service } from "../../service/client.ts";
import { fail, failedBy, ok, warn } from "./lines.ts";

const CHECK = "content";
/** One library may be broken or just removed; three that fail are no accident. */
const SAMPLED = 3;

const DISCARD: ScenarioSink = {
  restart: async () => {},
  add: async () => {},
  sources: async () => new Map(),
  remove: async () => {},
};

/** Reads the content of the first listed library; of up to two more where it cannot be read. No line for an empty listing. */
export async function checkContent(service: Service, listing: Listing, signal: AbortSignal): Promise<CheckLine[]> {
  const failed: { readonly key: LibraryKey; readonly error: ContentError }[] = [];
  for (const { key } of listing.libraries) {
    if (failed.length === SAMPLED) break;
    try {
      const { items, rejects } = await service.readContent(key, DISCARD, signal);
      const text = `${formatKey(key)} can be read: metadata and ${plural(items, "scenario")}`;
      const details = failed.map((one) => sayFailed(one.key, one.error));
      if (details.length > 0) return [warn(CHECK, `${text}; others cannot`, null, details)];
      if (rejects.length === 0) return [ok(CHECK, text)];
      const reasons = rejects.slice(0, SAMPLED).map(({ kind, path, reason }) => [kind, path, reason].join(" "));
      return [warn(CHECK, `${text}; ${plural(rejects.length, "item")} cannot be stored`, null, reasons)];
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ContentError)) return [failedBy(CHECK, error)];
      failed.push({ key, error });
      if (exitCodeOf(error) === EXIT.sourceUnavailable) break;
    }
  }
  const [first, ...more] = failed;
  if (first === undefined) return [];
  const text = sayFailed(first.key, first.error);
  const line = fail(
    CHECK,
    exitCodeOf(first.error),
    text,
    "see whether SIMCAT_BASE_URL is the service's, and the key's rights",
  );
  return [{ ...line, details: more.map(({ key, error }) => sayFailed(key, error)) }];
}

const sayFailed = (key: LibraryKey, error: ContentError) => `${formatKey(key)}: ${error.message} (${error.code})`;

/** The exit code of a run in which every library fails like this one. */
function exitCodeOf({ code, unavailable }: ContentError): number {
  if (unavailable || code === "throttled") return EXIT.sourceUnavailable;
  return code === "unauthorized" ? EXIT.unauthorized : EXIT.sourceUntrusted;
}

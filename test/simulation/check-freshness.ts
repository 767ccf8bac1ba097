import type { LibraryKey } from "../../src/model.ts";
import { isEverything } from "../../src/sync/rules/selection.ts";
import { metadataOf, scenariosOf } from "./check-equal.ts";
import { copyText } from "./copies.ts";
import type { PerformedRun } from "./perform-run.ts";
import { keyOf, type Seen } from "./reader.ts";
import type { Simulation } from "./simulation.ts";

interface Fresh extends LibraryKey {
  as_of: Date | null;
  is_whole: boolean;
  is_suspect: boolean;
  read_at: Date | null;
}

const FRESH = `
SELECT f.owner, f.library_name AS name, f.complete_as_of AS as_of, y.suspect_reads > 0 AS is_suspect, y.content_read_at AS read_at,
  f.is_stored AND f.open_rejects = 0 AND coalesce(f.owes, '') <> 'rejects' AND y.shrunk_run_id IS NULL AS is_whole
FROM simcat_report.library_freshness f JOIN simcat.library_sync y USING (owner, library_name)`;

const WHOLE = `SELECT complete_as_of AS as_of, last_whole_run_id::int4 AS last_run FROM simcat_report.data_complete_as_of`;

export function openFreshnessLog() {
  /** When the stored content was read, of each library whose content is suspect: a new date does not end the doubt. */
  const suspect = new Map<string, number>();

  function isWholeRead({ is_whole, is_suspect, read_at }: Fresh, key: string): boolean {
    const readAt = read_at?.getTime() ?? 0;
    if (is_suspect) suspect.set(key, readAt);
    else if (suspect.get(key) !== readAt) suspect.delete(key);
    return is_whole && !suspect.has(key);
  }

  /**
   * Checks that everything that the service had up to `complete_as_of`, and dated, is stored: the stored metadata and
   * scenarios are those of a version that the service had then or later.
   */
  return async (
    { control, service, edits }: Simulation,
    { heard, ended, isCompleted, others, plan }: PerformedRun,
    sight: ReadonlyMap<string, Seen>,
  ): Promise<string[]> => {
    const wrong: string[] = [];
    const { hidden, lied } = service;
    const { versions } = edits;
    const isCertain = (key: string) => !edits.undated.has(key) && !lied.has(key);
    for (const fresh of await control.query<Fresh>(FRESH)) {
      const key = keyOf(fresh);
      const seen = sight.get(key);
      const { as_of } = fresh;
      if (!isWholeRead(fresh, key) || as_of === null || seen === undefined || !isCertain(key)) continue;
      const all = versions.get(key) ?? [];
      // If the service did not have the library then, it had the version before.
      const last = all.findLast(({ from }) => from <= as_of.getTime());
      const since = all.filter((version) => version === last || version.until >= as_of.getTime());
      const scenarios = copyText({ metadata: null, scenarios: seen.copy.scenarios });
      const isMetadata = since.some(({ library }) => metadataOf(library) === seen.copy.metadata);
      const isScenarios = since.some(
        ({ library }) => copyText({ metadata: null, scenarios: scenariosOf(library) }) === scenarios,
      );
      if (!isMetadata || !isScenarios) {
        wrong.push(`freshness: ${key} claims to be complete as of ${as_of.toISOString()}, and is older`);
      }
    }
    const [whole] = await control.query<{ as_of: Date | null; last_run: number | null }>(WHOLE);
    if (whole?.as_of) {
      for (const [key, all] of versions) {
        const last = all.at(-1);
        const isThere = last?.until === Number.POSITIVE_INFINITY;
        if (!isThere || last.from > whole.as_of.getTime() || hidden.has(key) || !isCertain(key)) continue;
        if (sight.get(key)?.live !== true) {
          wrong.push(`freshness: all is complete as of ${whole.as_of.toISOString()}, and ${key} is not stored`);
        }
      }
    }
    const cachedAt = heard.listing?.cachedAt ?? null;
    const isOnly = others.length === 0 && isCompleted;
    if (isOnly && cachedAt !== null) {
      if (!ended.summary?.warnings.some(({ code }) => code === "listing_cached")) {
        wrong.push(`freshness: ${heard.run} met a cached listing and does not say so`);
      }
      const isLast = isEverything(plan.selection) && whole?.last_run === ended.summary?.id;
      if (isLast && (whole?.as_of?.getTime() ?? 0) > cachedAt) {
        wrong.push(`freshness: ${heard.run} met a listing of a cache and is complete as of a later time`);
      }
    }
    return wrong;
  };
}

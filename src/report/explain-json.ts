import type { LibraryRows } from "../db/read/read-library.ts";
import type { SyncState } from "../model.ts";
import { fullReadDueAt, isSettled, nextReadAt, windowEnd } from "../sync/rules/settle.ts";
import { judge, sayVerdict } from "./verdict.ts";

/** Why a library was or will be read or not, for machines; the names are those of the tables' columns. */
export function toExplanationJson(rows: LibraryRows, fullEveryMs: number) {
  const { key, now, lastGoodRun, stored, library, scenarios, versions, reads, rejects } = rows;
  const verdict = judge(rows, fullEveryMs);
  const sync = stored?.sync ?? null;
  return {
    owner: key.owner,
    library: key.name,
    now,
    verdict: { next_run: verdict.kind, reason: verdict.reason, text: sayVerdict(verdict, rows) },
    last_good_run: lastGoodRun === null ? null : { id: lastGoodRun.id, started_at: lastGoodRun.startedAt },
    ...toDates(sync),
    full_read_due_at: sync?.contentReadAt ? instant(fullReadDueAt(sync, key, fullEveryMs)) : null,
    failures: sync?.failures ?? 0,
    last_error: reads.lastError,
    last_failed_at: reads.lastFailedAt,
    last_success_at: reads.lastSuccessAt,
    stored: library !== null,
    last_modified: library?.lastModified ?? null,
    first_seen_at: library?.firstSeenAt ?? null,
    changed_at: library?.changedAt ?? null,
    removed_at: library?.removedAt ?? null,
    live_scenarios: library?.removedAt === null ? scenarios : 0,
    library_versions: versions.library,
    scenario_versions: versions.scenarios,
    open_rejects: rejects.open,
    resolved_rejects: rejects.resolved,
    rejects: rejects.shown.map(({ kind, code, path, reason, firstSeenAt, lastSeenAt }) => ({
      kind,
      code,
      path,
      reason,
      first_seen_at: firstSeenAt,
      last_seen_at: lastSeenAt,
    })),
  };
}

function toDates(sync: SyncState | null) {
  return {
    listed_text: sync?.listedText ?? null,
    bookmark: sync?.bookmark ?? null,
    settled: sync !== null && isSettled(sync),
    window_ends_at: sync === null ? null : instant(windowEnd(sync)),
    next_read_due_at: sync !== null && isCalm(sync) ? instant(nextReadAt(sync)) : null,
    reread_reason: sync?.rereadReason ?? null,
    content_read_at: sync === null ? null : instant(sync.contentReadAt),
    suspect_reads: sync?.suspectReads ?? 0,
  };
}

/** Only then does `nextReadAt` say anything; what owes a read is due at once. */
const isCalm = (sync: SyncState) =>
  sync.bookmark !== null && sync.listedText === sync.bookmark && sync.rereadReason === null;

const instant = (ms: number | null) => (ms === null ? null : new Date(ms));

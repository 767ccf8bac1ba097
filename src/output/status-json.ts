import type { StatusRows } from "../db/read/read-status.ts";
import type { RunRow } from "../db/read/recent-runs.ts";
import { nextStep } from "./next-step.ts";
import { nextTryOf } from "./verdict.ts";

/** The status for machines, under the names of the tables' columns. */
export function toStatusJson(rows: StatusRows) {
  const { now, runs, lastGoodRun, holder, libraries, scenarios, failing, rejects } = rows;
  return {
    now,
    last_good_run: lastGoodRun === null ? null : toRunRowJson(lastGoodRun, rows),
    lease_holder: holder,
    libraries: {
      live: libraries.live,
      settled: libraries.settled,
      unsettled: libraries.live - libraries.settled,
      removed: libraries.removed,
      never_stored: libraries.neverStored,
      failing: failing.total,
      oldest_content_read_at: libraries.oldestContentReadAt,
    },
    scenarios: { live: scenarios },
    runs: runs.map((run) => toRunRowJson(run, rows)),
    failing: failing.shown.map((library) => ({
      owner: library.owner,
      library: library.name,
      failures: library.failures,
      last_failed_at: library.lastFailedAt,
      next_read_due_at: nextTryOf(library),
      last_success_at: library.lastSuccessAt,
      last_error: library.lastError,
    })),
    open_rejects: rejects.total,
    open_reject_groups: rejects.groups,
    rejects: rejects.shown.map(({ owner, name, kind, code, count, firstSeenAt }) => ({
      owner,
      library: name,
      kind,
      code,
      count,
      first_seen_at: firstSeenAt,
    })),
    next: nextStep(rows),
  };
}

function toRunRowJson(run: RunRow, { now, liveRuns }: StatusRows) {
  const live = liveRuns.get(run.id);
  return {
    id: run.id,
    kind: run.kind,
    scope: run.scope,
    status: run.status,
    dead: run.status === "running" && live === undefined,
    started_at: run.startedAt,
    finished_at: run.finishedAt,
    duration_ms: (run.finishedAt ?? now).getTime() - run.startedAt.getTime(),
    libraries_read: live?.read ?? run.read,
    libraries_skipped: run.skipped,
    libraries_changed: run.changed,
    libraries_failed: run.failed,
    libraries_removed: run.removed,
    error: run.error,
  };
}

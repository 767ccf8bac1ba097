import type { StatusRows } from "../../src/db/read/read-status.ts";
import type { RunRow } from "../../src/db/read/recent-runs.ts";

export const NOW = new Date("2026-07-01T12:00:00Z");
export const ago = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);

/** A run of twelve seconds, by default three hours ago. */
export function runRow(id: number, rest: Partial<RunRow> = {}): RunRow {
  const startedAt = rest.startedAt ?? ago(180);
  const finishedAt = rest.finishedAt === undefined ? new Date(startedAt.getTime() + 12_000) : rest.finishedAt;
  const durationMs = (finishedAt ?? NOW).getTime() - startedAt.getTime();
  const counts = { read: 3, skipped: 209, changed: 2, failed: 0, removed: 0 };
  return {
    id,
    kind: "sync",
    scope: null,
    status: "ok",
    isDead: false,
    startedAt,
    finishedAt,
    durationMs,
    ...counts,
    error: null,
    ...rest,
  };
}

type FailingLibrary = StatusRows["failing"]["shown"][number];

/** A library that failed five minutes ago, and was never stored. */
export const failing = (owner: string, name: string, rest: Partial<FailingLibrary> = {}): FailingLibrary => ({
  ...{ owner, name, failures: 1, lastError: "timeout: …" },
  ...{ lastFailedAt: ago(5), lastSuccessAt: null, bookmarkSeenAt: ago(60), removalHeldAt: null },
  ...rest,
});

import type { RunRow } from "../../src/db/read/recent-runs.ts";
import type { RunStatus } from "../../src/run-summary.ts";
import type { Basics, CopyFigures } from "../../src/worker/copy-reads.ts";
import type { WorkerStatus } from "../../src/worker/worker-status.ts";
import { failing, runRow } from "../support/status-rows.ts";

const MINUTE = 60_000;
const NOW = new Date("2026-11-20T14:03:20Z");
const ago = (minutes: number) => new Date(NOW.getTime() - minutes * MINUTE);

export const figuresOf = (rest: Partial<CopyFigures> = {}): CopyFigures => ({
  database: "simcat",
  libraries: {
    ...{ live: 0, removed: 0, settled: 0, neverStored: 0, owing: 0 },
    ...{ oldestContentReadAt: null, cachedContentAsOf: null },
  },
  failing: { total: 0, shown: [] },
  rejects: { total: 0, groups: 0, shown: [] },
  scenarios: 0,
  completeAsOf: null,
  seenAsOf: null,
  behind: 0,
  ...rest,
});

export const basicsOf = (rest: Partial<Basics> = {}): Basics => ({
  now: () => NOW,
  schema: { kind: "current", version: 1 },
  lastGoodRun: null,
  holder: null,
  runs: [],
  ...rest,
});

export const SETTINGS_OF_PAGE = { timezone: "Europe/Berlin", baseUrl: new URL("https://api.example.com/v1/") };

export const emptyStatus: WorkerStatus = {
  now: NOW,
  ready: false,
  reasons: [{ code: "no_good_run", message: "no run of all libraries has succeeded yet" }],
  nextRun: new Date("2026-11-20T14:15:00Z"),
  intervalMs: 15 * MINUTE,
  current: null,
  basics: basicsOf(),
  sinceGoodRunMs: null,
  figures: figuresOf(),
};

const STATUSES = ["ok", "partial", "held", "source_unavailable", "interrupted", "unauthorized", "abandoned"] as const;

const run = (id: number, status: RunStatus, minutesAgo: number): RunRow =>
  runRow(id, {
    ...{ status, startedAt: ago(minutesAgo) },
    finishedAt: status === "running" ? null : ago(minutesAgo - 0.2 * (id % 7)),
    durationMs: status === "running" ? minutesAgo * MINUTE : 0.2 * (id % 7) * MINUTE,
    error:
      status === "ok"
        ? null
        : `GET /libs answered 503 after 5 attempts (asked https://${"very-long-".repeat(20)}.example/libs)`,
  });

/** Everything at once: an active run, every outcome, and these libraries as failing. */
export function failingStatus(names: readonly string[], total = names.length): WorkerStatus {
  const figures = figuresOf({
    libraries: {
      live: 100_012,
      removed: 31,
      settled: 1e5,
      neverStored: 2,
      owing: 0,
      oldestContentReadAt: ago(9_000),
      cachedContentAsOf: null,
    },
    scenarios: 12_204_331,
    completeAsOf: ago(8_000),
    failing: {
      total,
      shown: names.map((name, at) =>
        failing("someone.else@example.com", name, {
          ...{ failures: 7 * at + 1, lastFailedAt: ago(1) },
          lastSuccessAt: at < 3 ? null : ago(180 * at),
          lastError: `server_error: GET /user/x/lib/${"y".repeat(300)} answered 500 after 5 attempts`,
        }),
      ),
    },
    rejects: { total: 41, groups: 2, shown: [] },
  });
  return {
    ...emptyStatus,
    reasons: [
      { code: "stale", message: "the last good run (117) is older than three due runs" },
      { code: "unauthorized", message: "GET /libs answered 401; the service refused the key" },
    ],
    current: { id: 130, startedAt: ago(1), progressAt: 0, toRead: 4_321, done: 1_234 },
    basics: basicsOf({
      lastGoodRun: run(117, "ok", 180),
      runs: [
        run(130, "running", 1),
        ...Array.from({ length: 29 }, (_, at) => run(129 - at, STATUSES[at % STATUSES.length] ?? "ok", 15 * (at + 1))),
      ],
    }),
    figures,
  };
}

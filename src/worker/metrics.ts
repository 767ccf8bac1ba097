import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { RUN_STATUSES, type RunCounts, type RunStatus, type RunSummary } from "../run-summary.ts";
import type { ObservedEvent } from "../sync/run-types.ts";
import type { WorkerStatus } from "./worker-status.ts";

/** The worker's Prometheus metrics. No label names a library, because there may be a million of them. */
export type Metrics = ReturnType<typeof createMetrics>;

const seconds = (at: Date) => at.getTime() / 1000;

/** By name: the help, and the value in a status. A gauge whose value is null is absent. */
const GAUGES: Readonly<Record<string, readonly [help: string, read: (status: WorkerStatus) => number | null]>> = {
  last_success_timestamp_seconds: [
    "When the last good run of all libraries ended; 0 before the first, absent while that is unknown.",
    ({ sinceGoodRunMs, basics }) =>
      sinceGoodRunMs === undefined ? null : seconds(basics?.lastGoodRun?.finishedAt ?? new Date(0)),
  ],
  seconds_since_last_success: [
    "Time since the last good run of all libraries ended; +Inf before the first, absent while that is unknown.",
    ({ sinceGoodRunMs: ms }) => (ms === undefined ? null : (ms ?? Number.POSITIVE_INFINITY) / 1000),
  ],
  complete_as_of_timestamp_seconds: [
    "The time as of which the copy is complete, as in simcat_report.data_complete_as_of; absent while there is none.",
    ({ figures }) => (figures?.completeAsOf == null ? null : seconds(figures.completeAsOf)),
  ],
  failing_libraries: [
    "Libraries whose last read failed; absent while their number is unknown.",
    ({ figures }) => figures?.failing.total ?? null,
  ],
  oldest_library_read_lag_seconds: [
    "Time since the content of the least recently read live library was read; 0 if there is none, absent while that is unknown.",
    ({ figures, basics }) => {
      if (figures === null || basics === null) return null;
      const { oldestContentReadAt: oldest } = figures.libraries;
      return oldest === null ? 0 : Math.max(0, seconds(basics.now()) - seconds(oldest));
    },
  ],
  open_rejects: [
    "Open rejects: items that could not be stored and have not been received in a valid form since; absent while their number is unknown.",
    ({ figures }) => figures?.rejects.total ?? null,
  ],
  ready: ["1 if /readyz answers 200, otherwise 0.", ({ ready }) => (ready ? 1 : 0)],
  run_in_progress: [
    "1 while a run of this worker is in progress, otherwise 0.",
    ({ current }) => (current === null ? 0 : 1),
  ],
  next_run_timestamp_seconds: ["When the next run is due.", ({ nextRun }) => seconds(nextRun)],
  schedule_interval_seconds: ["Time between the next two due runs.", ({ intervalMs }) => intervalMs / 1000],
};

const OUTCOMES: Readonly<Record<string, (counts: Readonly<RunCounts>) => number>> = {
  changed: (counts) => counts.librariesChanged,
  unchanged: (counts) => counts.librariesRead - counts.librariesChanged,
  skipped: (counts) => counts.librariesSkipped,
  failed: (counts) => counts.librariesFailed,
  removed: (counts) => counts.librariesRemoved,
};

/** By table, change and count. */
const ROWS = [
  ["libraries", "changed", "librariesChanged"],
  ["libraries", "removed", "librariesRemoved"],
  ["scenarios", "inserted", "scenariosInserted"],
  ["scenarios", "updated", "scenariosUpdated"],
  ["scenarios", "removed", "scenariosRemoved"],
] as const;

/** Why no run started at a due tick. `suspended`: the machine slept, or the event loop was blocked. */
const MISS_REASONS = ["running", "database", "suspended", "retry_after"] as const;
export type MissReason = (typeof MISS_REASONS)[number];

/** The help and the labels of each series. All exist from the start: one that appears later has no increase to alert on. */
const COUNTERS = {
  runs_total: ["Ended runs of this worker, by status.", RUN_STATUSES.map((status) => ({ status }))],
  libraries_total: ["Libraries, by their outcome in a run.", Object.keys(OUTCOMES).map((outcome) => ({ outcome }))],
  rows_written_total: [
    "Rows that runs wrote. A library counts as changed if it is new, or if its row or its scenarios differ.",
    ROWS.map(([table, change]) => ({ table, change })),
  ],
  rejects_total: ["Received items that could not be stored, counted in every run."],
  silent_changes_total: ["Libraries that had changed without a new date in the listing."],
  missed_ticks_total: [
    "Due ticks at which no run started, by reason: running (a run was in progress), database (unreachable), suspended (the machine slept or the process was blocked), retry_after (the service had asked for a pause).",
    MISS_REASONS.map((reason) => ({ reason })),
  ],
  busy_ticks_total: ["Due ticks at which another process held the lease."],
  requests_total: [
    "Completed requests, by operation and status class (or failure kind if there was no response).",
    ["listing", "metadata", "scenarios"].flatMap((operation) =>
      ["2xx", "4xx", "5xx"].map((status_class) => ({ operation, status_class })),
    ),
  ],
  request_retries_total: ["Requests that failed and were scheduled to be sent again."],
  rate_limit_wait_seconds_total: [
    "Total length of the pauses that the service requested; overlapping pauses count once.",
  ],
} satisfies Readonly<Record<string, readonly [help: string, series?: readonly Readonly<Record<string, string>>[]]>>;

export function createMetrics(version: string) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: "simcat_" });
  // prom-client names these gauges like counters, and every linter of metrics complains about them.
  for (const kind of ["handles", "requests", "resources"])
    registry.removeSingleMetric(`simcat_nodejs_active_${kind}_total`);
  const help = "Always 1; the label is the version.";
  new Gauge({ name: "simcat_build_info", help, labelNames: ["version"], registers }).set({ version }, 1);
  const gauges = Object.entries(GAUGES).map(([name, [help, read]]) => {
    return { gauge: new Gauge({ name: `simcat_${name}`, help, registers }), read };
  });
  const counters = Object.entries(COUNTERS).map(([name, [help, series = []]]) => {
    const labelNames = Object.keys(series[0] ?? {});
    const counter = new Counter({ name: `simcat_${name}`, help, labelNames, registers });
    for (const labels of series) counter.inc(labels, 0);
    return [name, counter];
  });
  const count: Readonly<Record<keyof typeof COUNTERS, Counter>> = Object.fromEntries(counters);
  const duration = new Histogram({
    name: "simcat_run_duration_seconds",
    help: "Duration of the runs of this worker.",
    // In seconds, up to four hours.
    buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400],
    registers,
  });
  let pausedUntil = 0;
  const finished = ({ status, durationMs, counts }: RunSummary) => {
    count.runs_total.inc({ status });
    duration.observe(durationMs / 1000);
    for (const [outcome, of] of Object.entries(OUTCOMES)) count.libraries_total.inc({ outcome }, of(counts));
    for (const [table, change, name] of ROWS) count.rows_written_total.inc({ table, change }, counts[name]);
    count.rejects_total.inc(counts.rejects);
    count.silent_changes_total.inc(counts.silentChanges);
  };
  return {
    /** Counts a run that ended before it had a row in `sync_runs`. */
    notStarted: (status: RunStatus) => count.runs_total.inc({ status }),
    missedTicks: (reason: MissReason, ticks: number) => count.missed_ticks_total.inc({ reason }, ticks),
    busyTick: () => count.busy_ticks_total.inc(),
    /** Counts requests, retries and requested pauses as they happen, and a run at its end, because its counts may change until then. */
    observe(event: ObservedEvent): void {
      if (event.kind === "finished") finished(event.summary);
      if (event.kind === "request")
        count.requests_total.inc({ operation: event.operation, status_class: event.outcome });
      if (event.kind === "retry") count.request_retries_total.inc();
      if (event.kind !== "throttled") return;
      const from = Math.max(pausedUntil, performance.now());
      pausedUntil = Math.max(pausedUntil, performance.now() + event.waitMs);
      count.rate_limit_wait_seconds_total.inc(Math.max(0, pausedUntil - from) / 1000);
    },
    /** Sets the gauges, and answers a scrape. */
    async scrape(status: WorkerStatus) {
      for (const { gauge, read } of gauges) {
        const value = read(status);
        if (value === null) gauge.remove();
        else gauge.set(value);
      }
      return { body: await registry.metrics(), headers: { "content-type": registry.contentType } };
    },
  };
}

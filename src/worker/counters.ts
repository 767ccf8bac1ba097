import { Counter, Histogram, type Registry } from "prom-client";
import type { RunCounts, RunReport, RunStatus } from "../run-report.ts";
import type { ServiceEvent } from "../service/client.ts";

export interface RunCounters {
  /** Counts a run at its end, because its counts may change until then. */
  finished(report: RunReport): void;
  /** Counts a run that ended before it had a row in `sync_runs`. */
  notStarted(status: RunStatus): void;
}

const STATUSES: readonly RunStatus[] = [
  "ok",
  "partial",
  "held",
  "source_unavailable",
  "source_untrusted",
  "unauthorized",
  "database_failed",
  "interrupted",
  "lost_lease",
  "failed",
];

const MINUTE_S = 60;
const DURATION_BUCKETS_S = [0.1, 0.5, 1, 5, 15, MINUTE_S, 5 * MINUTE_S, 15 * MINUTE_S, 60 * MINUTE_S, 240 * MINUTE_S];

type Count = (counts: Readonly<RunCounts>) => number;

const OUTCOMES: Readonly<Record<string, Count>> = {
  changed: (counts) => counts.librariesChanged,
  unchanged: (counts) => counts.librariesRead - counts.librariesChanged,
  skipped: (counts) => counts.librariesSkipped,
  failed: (counts) => counts.librariesFailed,
  removed: (counts) => counts.librariesRemoved,
};

const ROWS: readonly { readonly table: string; readonly change: string; readonly count: Count }[] = [
  { table: "libraries", change: "changed", count: (counts) => counts.librariesChanged },
  { table: "libraries", change: "removed", count: (counts) => counts.librariesRemoved },
  { table: "scenarios", change: "inserted", count: (counts) => counts.scenariosInserted },
  { table: "scenarios", change: "updated", count: (counts) => counts.scenariosUpdated },
  { table: "scenarios", change: "removed", count: (counts) => counts.scenariosRemoved },
];

/** Every series exists from the start, because a series that appears with its first event has no increase to alert on. */
export function createRunCounters(registers: Registry[]): RunCounters {
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter({ name: `simcat_${name}`, help, labelNames, registers });
  const runs = counter("runs_total", "Ended runs of this worker, by status.", ["status"]);
  const duration = new Histogram({
    name: "simcat_run_duration_seconds",
    help: "Duration of the runs of this worker.",
    buckets: DURATION_BUCKETS_S,
    registers,
  });
  const libraries = counter("libraries_total", "Libraries, by their outcome in a run.", ["outcome"]);
  const rejects = counter("rejects_total", "Received items that could not be stored, counted in every run.");
  const rows = counter(
    "rows_written_total",
    "Rows that runs wrote. A library counts as changed if it is new, or if its row or its scenarios differ.",
    ["table", "change"],
  );
  const silent = counter("silent_changes_total", "Libraries that had changed without a new date in the listing.");
  for (const status of STATUSES) runs.inc({ status }, 0);
  for (const outcome of Object.keys(OUTCOMES)) libraries.inc({ outcome }, 0);
  for (const { table, change } of ROWS) rows.inc({ table, change }, 0);
  return {
    finished({ status, durationMs, counts }) {
      runs.inc({ status });
      duration.observe(durationMs / 1000);
      for (const [outcome, count] of Object.entries(OUTCOMES)) libraries.inc({ outcome }, count(counts));
      for (const { table, change, count } of ROWS) rows.inc({ table, change }, count(counts));
      rejects.inc(counts.rejects);
      silent.inc(counts.silentChanges);
    },
    notStarted: (status) => runs.inc({ status }),
  };
}

/** Counts requests, retries and requested pauses as they happen. */
export function createRequestCounters(registers: Registry[]): (event: ServiceEvent) => void {
  const requests = new Counter({
    name: "simcat_requests_total",
    help: "Completed requests, by operation and status class (or failure kind if there was no response).",
    labelNames: ["operation", "status_class"],
    registers,
  });
  const retries = new Counter({
    name: "simcat_request_retries_total",
    help: "Requests that failed and were scheduled to be sent again.",
    registers,
  });
  const waits = new Counter({
    name: "simcat_rate_limit_wait_seconds_total",
    help: "Total length of the pauses that the service requested; overlapping pauses count once.",
    registers,
  });
  for (const operation of ["listing", "metadata", "scenarios"]) {
    for (const status_class of ["2xx", "4xx", "5xx"]) requests.inc({ operation, status_class }, 0);
  }
  let pausedUntil = 0;
  return (event) => {
    if (event.kind === "request") requests.inc({ operation: event.operation, status_class: event.outcome });
    if (event.kind === "retry") retries.inc();
    if (event.kind !== "throttled") return;
    const from = Math.max(pausedUntil, performance.now());
    pausedUntil = Math.max(pausedUntil, performance.now() + event.waitMs);
    waits.inc(Math.max(0, pausedUntil - from) / 1000);
  };
}

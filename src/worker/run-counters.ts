import { Counter, Histogram, type Registry } from "prom-client";
import type { RunCounts, RunReport, RunStatus } from "../model.ts";

/** Every series is there from the start: one that appears with its first event has no increase to alert on. */
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

const MINUTE = 60;
const BUCKETS = [0.1, 0.5, 1, 5, 15, MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE, 240 * MINUTE];

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

export interface RunCounters {
  /** Counted at its end: until then a run may still be told otherwise. */
  finished(report: RunReport): void;
  /** It ended before it had anything to count. */
  unbegun(status: RunStatus): void;
}

export function openRunCounters(registers: Registry[]): RunCounters {
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter({ name: `simcat_${name}`, help, labelNames, registers });
  const runs = counter("runs_total", "Runs of this worker that ended, by status.", ["status"]);
  const duration = new Histogram({
    name: "simcat_run_duration_seconds",
    help: "How long the runs of this worker took.",
    buckets: BUCKETS,
    registers,
  });
  const libraries = counter("libraries_total", "Libraries, by what a run did with them.", ["outcome"]);
  const rejects = counter("rejects_total", "Things that the service sent and that could not be stored, every time.");
  const rows = counter(
    "rows_written_total",
    "Rows of the copy that runs wrote. A library is changed when it is new or differs, by itself or in its scenarios.",
    ["table", "change"],
  );
  const silent = counter("silent_changes_total", "Libraries that had changed under an unchanged date.");
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
    unbegun: (status) => runs.inc({ status }),
  };
}

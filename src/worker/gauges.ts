import { Gauge, type Registry } from "prom-client";

/** What is known at the moment of a scrape; null for what was never read. */
export interface Gauges {
  readonly lastSuccess: Date | null;
  readonly sinceLastSuccessMs: number | null;
  readonly oldestReadMs: number | null;
  readonly openRejects: number | null;
  readonly isReady: boolean;
  readonly isRunning: boolean;
  readonly nextRun: Date;
  readonly intervalMs: number;
}

const SHOWN: readonly { readonly name: string; readonly help: string; readonly value: (now: Gauges) => number }[] = [
  {
    name: "last_success_timestamp_seconds",
    help: "When the last good run over everything ended; 0 before the first.",
    value: ({ lastSuccess }) => (lastSuccess?.getTime() ?? 0) / 1000,
  },
  {
    name: "seconds_since_last_success",
    help: "Time since the last good run over everything ended; +Inf before the first.",
    value: ({ sinceLastSuccessMs }) => (sinceLastSuccessMs ?? Number.POSITIVE_INFINITY) / 1000,
  },
  {
    name: "oldest_library_read_lag_seconds",
    help: "Time since the content of the live library that waits longest was read; 0 without one.",
    value: ({ oldestReadMs }) => (oldestReadMs ?? 0) / 1000,
  },
  {
    name: "open_rejects",
    help: "Things that the service sent, that could not be stored, and that were not sent well since.",
    value: ({ openRejects }) => openRejects ?? 0,
  },
  { name: "ready", help: "1 where /readyz answers 200.", value: ({ isReady }) => (isReady ? 1 : 0) },
  {
    name: "run_in_progress",
    help: "1 while this worker has a run at work.",
    value: ({ isRunning }) => (isRunning ? 1 : 0),
  },
  {
    name: "next_run_timestamp_seconds",
    help: "When the next run is due.",
    value: ({ nextRun }) => nextRun.getTime() / 1000,
  },
  {
    name: "schedule_interval_seconds",
    help: "From the next due run to the one behind it.",
    value: ({ intervalMs }) => intervalMs / 1000,
  },
];

/** They stand still between scrapes: each is set from what is known then. */
export function openGauges(registers: Registry[]): (now: Gauges) => void {
  const gauges = SHOWN.map(({ name, help, value }) => {
    const gauge = new Gauge({ name: `simcat_${name}`, help, registers });
    return (now: Gauges) => gauge.set(value(now));
  });
  return (now) => {
    for (const set of gauges) set(now);
  };
}

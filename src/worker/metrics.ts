import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { ServiceEvent } from "../service/client.ts";
import { createRequestCounters, createRunCounters, type RunCounters } from "./counters.ts";

/** The worker's Prometheus metrics. No label names a library, because there may be a million of them. */
export interface Metrics extends RunCounters {
  service(event: ServiceEvent): void;
  busyTick(): void;
  missedTicks(count: number): void;
  /** Sets the gauges and returns the text of a scrape. */
  scrape(values: GaugeValues): Promise<string>;
  readonly contentType: string;
}

/** The values of the gauges at the moment of a scrape. Null: not read yet, or there is none. */
export interface GaugeValues {
  readonly lastSuccess: Date | null;
  readonly sinceLastSuccessMs: number | null;
  readonly oldestReadMs: number | null;
  readonly openRejects: number | null;
  readonly isReady: boolean;
  readonly isRunning: boolean;
  readonly nextRun: Date;
  readonly intervalMs: number;
}

interface GaugeDefinition {
  readonly name: string;
  readonly help: string;
  readonly read: (values: GaugeValues) => number;
}

const GAUGES: readonly GaugeDefinition[] = [
  {
    name: "last_success_timestamp_seconds",
    help: "When the last good run of all libraries ended; 0 before the first.",
    read: ({ lastSuccess }) => (lastSuccess?.getTime() ?? 0) / 1000,
  },
  {
    name: "seconds_since_last_success",
    help: "Time since the last good run of all libraries ended; +Inf before the first.",
    read: ({ sinceLastSuccessMs }) => (sinceLastSuccessMs ?? Number.POSITIVE_INFINITY) / 1000,
  },
  {
    name: "oldest_library_read_lag_seconds",
    help: "Time since the content of the least recently read live library was read; 0 if there is none.",
    read: ({ oldestReadMs }) => (oldestReadMs ?? 0) / 1000,
  },
  {
    name: "open_rejects",
    help: "Open rejects: items that could not be stored and have not been received in a valid form since.",
    read: ({ openRejects }) => openRejects ?? 0,
  },
  { name: "ready", help: "1 if /readyz answers 200, otherwise 0.", read: ({ isReady }) => (isReady ? 1 : 0) },
  {
    name: "run_in_progress",
    help: "1 while a run of this worker is in progress, otherwise 0.",
    read: ({ isRunning }) => (isRunning ? 1 : 0),
  },
  {
    name: "next_run_timestamp_seconds",
    help: "When the next run is due.",
    read: ({ nextRun }) => nextRun.getTime() / 1000,
  },
  {
    name: "schedule_interval_seconds",
    help: "Time between the next two due runs.",
    read: ({ intervalMs }) => intervalMs / 1000,
  },
];

/** prom-client names these gauges like counters, and every linter of metrics reports them. */
const MISNAMED_GAUGES = ["handles", "requests", "resources"].map((kind) => `simcat_nodejs_active_${kind}_total`);

export function createMetrics(version: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: "simcat_" });
  for (const name of MISNAMED_GAUGES) registry.removeSingleMetric(name);
  const build = new Gauge({
    name: "simcat_build_info",
    help: "Always 1; the label is the version.",
    labelNames: ["version"],
    registers,
  });
  build.set({ version }, 1);
  const missed = new Counter({
    name: "simcat_missed_ticks_total",
    help: "Due ticks at which no run started: one was in progress, the database was unreachable or the machine slept.",
    registers,
  });
  const busy = new Counter({
    name: "simcat_busy_ticks_total",
    help: "Due ticks at which another process held the lease.",
    registers,
  });
  const setGauges = createGauges(registers);
  return {
    ...createRunCounters(registers),
    service: createRequestCounters(registers),
    busyTick: () => busy.inc(),
    missedTicks: (count) => missed.inc(count),
    scrape(values) {
      setGauges(values);
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

function createGauges(registers: Registry[]): (values: GaugeValues) => void {
  const gauges = GAUGES.map(({ name, help, read }) => {
    const gauge = new Gauge({ name: `simcat_${name}`, help, registers });
    return (values: GaugeValues) => gauge.set(read(values));
  });
  return (values) => {
    for (const set of gauges) set(values);
  };
}

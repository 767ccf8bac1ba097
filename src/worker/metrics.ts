import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { ServiceEvent } from "../service/client.ts";
import { type Gauges, openGauges } from "./gauges.ts";
import { openRequestCounters } from "./request-counters.ts";
import { openRunCounters, type RunCounters } from "./run-counters.ts";

/** What the worker tells Prometheus. No label names a library: there may be a million of them. */
export interface Metrics extends RunCounters {
  service(event: ServiceEvent): void;
  busy(): void;
  missedTicks(count: number): void;
  /** The text of a scrape. */
  scrape(gauges: Gauges): Promise<string>;
  readonly contentType: string;
}

/** Gauges that the library names like counters: every linter of metrics objects. */
const MISNAMED = ["handles", "requests", "resources"].map((what) => `simcat_nodejs_active_${what}_total`);

export function openMetrics(version: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: "simcat_" });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const build = new Gauge({
    name: "simcat_build_info",
    help: "Always 1; the version is its label.",
    labelNames: ["version"],
    registers,
  });
  build.set({ version }, 1);
  const missed = new Counter({
    name: "simcat_missed_ticks_total",
    help: "Due moments at which no run began, because one was at work, the database was away or the machine slept.",
    registers,
  });
  const busy = new Counter({
    name: "simcat_busy_ticks_total",
    help: "Due moments at which another process held the lease.",
    registers,
  });
  const setGauges = openGauges(registers);
  return {
    ...openRunCounters(registers),
    service: openRequestCounters(registers),
    busy: () => busy.inc(),
    missedTicks: (count) => missed.inc(count),
    scrape(gauges) {
      setGauges(gauges);
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

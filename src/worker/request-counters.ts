import { Counter, type Registry } from "prom-client";
import type { ServiceEvent } from "../service/client.ts";

/** Counts what happens between us and the service, as it happens. */
export function openRequestCounters(registers: Registry[]): (event: ServiceEvent) => void {
  const requests = new Counter({
    name: "simcat_requests_total",
    help: "Requests to the service that ended, by operation and class of status, or how they failed where there was none.",
    labelNames: ["operation", "status_class"],
    registers,
  });
  const retries = new Counter({
    name: "simcat_request_retries_total",
    help: "Requests to the service that were decided to be sent once more.",
    registers,
  });
  const waits = new Counter({
    name: "simcat_rate_limit_wait_seconds_total",
    help: "Time for which the service asked that no request be sent; pauses that overlap count once.",
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

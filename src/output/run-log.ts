import type { Logger } from "../log.ts";
import type { EndStatus, RunSummary } from "../run-summary.ts";
import type { ObservedEvent } from "../sync/run-types.ts";
import { LONG_WAIT_MS, type Progress } from "./progress.ts";
import { toSnakeCase } from "./summary.ts";

/** The operator must fix these. The other statuses end by themselves, or leave a decision that can wait. */
const NEEDS_FIX: readonly EndStatus[] = ["unauthorized", "source_untrusted", "failed"];

/** Logs a run: its start, each failure, each warning, each group of rejects, and its summary. Every line has a stable `code`. */
export function createRunLog(log: Logger) {
  return {
    observe(event: ObservedEvent) {
      if (event.kind === "started") log.info({ code: "run_started", run: event.id, kind: event.run }, "run started");
      if (event.kind === "planned") {
        const { listed, toRead, skipped } = event;
        log.info({ code: "run_planned", listed, to_read: toRead, skipped }, "libraries listed");
      }
      if (event.kind === "rejected") {
        const { key, rejects } = event;
        const where = key ? { owner: key.owner, library: key.name } : {};
        const first = { reject: rejects[0]?.code, path: rejects[0]?.path, reason: rejects[0]?.reason };
        log.warn({ code: "rejects", ...where, ...first, count: rejects.length }, "items could not be stored");
      }
      if (event.kind === "failed") {
        const { key, code, message } = event;
        log.warn({ code, owner: key.owner, library: key.name, error: message }, "library failed");
      }
      if (event.kind === "throttled") {
        const { operation, waitMs } = event;
        log.info({ code: "throttled", operation, wait_ms: waitMs }, "the service requested a pause");
      }
      if (event.kind === "retry") {
        const { operation, reason, delayMs } = event;
        const level = operation === "listing" ? "warn" : delayMs >= LONG_WAIT_MS ? "info" : "debug";
        const fields = { operation, error: reason, delay_ms: Math.round(delayMs) };
        log[level]({ code: "request_retried", ...fields }, "repeating a request");
      }
      if (event.kind === "request") {
        const { operation, outcome, ms } = event;
        log.trace({ code: "request", operation, outcome, duration_ms: Math.round(ms) }, "request ended");
      }
      if (event.kind === "finished") logSummary(log, event.summary);
    },
    progress({ done, total, failed }: Progress) {
      log.info({ code: "run_progress", done, total, failed }, "reading libraries");
    },
    /** Logs a long wait for the service. */
    waiting(text: string) {
      log.info({ code: "waiting_for_service" }, text);
    },
  };
}

function logSummary(log: Logger, { id, kind, status, durationMs, counts, error, warnings }: RunSummary): void {
  for (const { code, message, key } of warnings) {
    log.warn({ code, ...(key ? { owner: key.owner, library: key.name } : {}), detail: message }, "warning");
  }
  const fields = { run: id, kind, status, duration_ms: durationMs, ...toSnakeCase(counts), error };
  const line = { code: "run_finished", ...fields };
  if (status === "ok") log.info(line, "run finished");
  else if (NEEDS_FIX.includes(status)) log.error({ ...line, code: status }, "run failed");
  else if (status === "partial" || status === "held" || status === "interrupted") log.warn(line, "run finished");
  else log.warn({ ...line, code: status }, "run failed");
}

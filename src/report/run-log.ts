import type { Logger } from "../log.ts";
import type { RunReport } from "../model.ts";
import type { RunEvent } from "../sync/run-event.ts";
import type { Progress } from "./progress.ts";
import { toColumns } from "./run-json.ts";

export interface RunLog {
  event(event: RunEvent): void;
  progress(progress: Progress): void;
  finished(report: RunReport): void;
}

/** A run in log lines: its start, each failure, each warning and kind of reject, its summary. Every line has a stable `code`. */
export function logRun(log: Logger): RunLog {
  return {
    event(event) {
      if (event.kind === "started") log.info({ code: "run_started", run: event.id, kind: event.run }, "run started");
      if (event.kind === "planned") {
        const { listed, toRead, skipped } = event;
        log.info({ code: "run_planned", listed, to_read: toRead, skipped }, "libraries listed");
      }
      if (event.kind === "failed") {
        const { key, code, message } = event;
        log.warn({ code, owner: key.owner, library: key.name, error: message }, "library failed");
      }
    },
    progress({ done, total, failed }) {
      log.info({ code: "run_progress", done, total, failed }, "reading libraries");
    },
    finished(report) {
      for (const [reject, count] of Object.entries(report.rejects)) {
        log.warn({ code: "rejects", reject, count }, "items could not be read and were put aside");
      }
      for (const { code, message, key } of report.warnings) {
        log.warn({ code, ...(key ? { owner: key.owner, library: key.name } : {}), detail: message }, "warning");
      }
      const { id, kind, status, durationMs, counts, error } = report;
      const line = {
        code: "run_finished",
        run: id,
        kind,
        status,
        duration_ms: durationMs,
        ...toColumns(counts),
        error,
      };
      if (status === "ok") log.info(line, "run finished");
      else if (status === "partial" || status === "held" || status === "interrupted") log.warn(line, "run finished");
      else log.error({ ...line, code: status }, "run failed");
    },
  };
}

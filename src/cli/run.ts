import { openClock } from "../db/clock.ts";
import type { Pool } from "../db/connect.ts";
import { EXIT, SimcatError } from "../errors.ts";
import { formatJson } from "../format.ts";
import { isColored, openLog } from "../log.ts";
import type { RunKind, RunStatus } from "../model.ts";
import { createProgressLine } from "../report/progress.ts";
import { createRunLog } from "../report/run-log.ts";
import { formatSummary, toRunJson } from "../report/summary.ts";
import { parseSelection } from "../sync/rules/selection.ts";
import { runSync } from "../sync/run.ts";
import type { RunResult } from "../sync/run-request.ts";
import type { Context } from "./context.ts";
import { loadServiceSettings, type ServiceConfig } from "./settings.ts";
import { withDatabase } from "./with-database.ts";
import { withService } from "./with-service.ts";

export interface RunOptions {
  readonly library: readonly string[];
  readonly owner: readonly string[];
  readonly allowRemovals: boolean;
  readonly restart: boolean;
  readonly json: boolean;
}

export interface SyncOptions extends Omit<RunOptions, "restart"> {
  readonly dryRun: boolean;
}

/** `sync` and `backfill`: one run, its progress, its summary, its exit code. */
export async function runOnce(context: Context, kind: RunKind, options: RunOptions): Promise<number> {
  const selection = parseSelection(options.library, options.owner);
  const config = loadServiceSettings(context);
  const { allowRemovals, restart } = options;
  const request = { kind, trigger: "cli", selection, allowRemovals, restart } as const;
  const result = await withDatabase(context, config, "migrate", (pool) =>
    runWithProgress(context, config, pool, request),
  );
  const exitCode = exitCodeOf(result);
  context.print(options.json ? formatJson(toRunJson(result.report, exitCode)) : formatSummary(result.report));
  return exitCode;
}

async function runWithProgress(
  context: Context,
  config: ServiceConfig,
  pool: Pool,
  request: Parameters<typeof runSync>[1],
): Promise<RunResult> {
  const { terminal, draw, mask, version, stop } = context;
  const log = openLog(config, terminal.isErr, draw, mask, isColored(context.environment, terminal.isErr));
  const lines = createRunLog(log);
  // A terminal has the progress line, and the summary says the rest; whoever wants to see more than that gets the lines.
  const logs = !terminal.isErr || log.isLevelEnabled("debug");
  const screen = !logs && log.isLevelEnabled("info") ? { columns: terminal.columns, draw } : null;
  const progress = createProgressLine(screen, lines.progress);
  const clock = await openClock(pool, context.stop);
  const onEvent = logs ? lines.service : () => {};
  return withService(context, config, { onEvent }, async (service) => {
    try {
      const tell = (event: Parameters<typeof progress.event>[0]) => {
        progress.event(event);
        if (logs) lines.event(event);
      };
      const result = await runSync({ pool, clock, service, settings: config, version, mask, tell }, request, stop);
      progress.end();
      if (logs) lines.finished(result.report);
      return result;
    } finally {
      progress.end();
    }
  });
}

const ENDED: Readonly<Partial<Record<RunStatus, number>>> = { ok: EXIT.ok, partial: EXIT.partial, held: EXIT.held };

function exitCodeOf({ report, error }: RunResult): number {
  if (error instanceof SimcatError) return error.exitCode;
  return ENDED[report.status] ?? EXIT.failed;
}

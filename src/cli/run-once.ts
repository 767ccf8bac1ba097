import { createClock } from "../db/clock.ts";
import type { Pool } from "../db/connect.ts";
import { EXIT, SimcatError, UsageError } from "../errors.ts";
import { formatJson } from "../format.ts";
import type { RunObserver } from "../output/run-log.ts";
import { formatSummary, toRunJson } from "../output/summary.ts";
import type { RunKind, RunRequest, RunStatus } from "../run-summary.ts";
import { isEverything, parseSelection } from "../sync/rules/selection.ts";
import { runSync } from "../sync/run.ts";
import type { RunEvent, RunResult } from "../sync/run-types.ts";
import { withDatabase, withService } from "./connections.ts";
import type { Context } from "./context.ts";
import { loadServiceSettings, type ServiceConfig } from "./settings.ts";
import { showProgress, toServiceEvents } from "./show-progress.ts";
import { createTell, toRunEnd } from "./tell.ts";

export interface RunOptions {
  readonly library: readonly string[];
  readonly owner: readonly string[];
  readonly allowRemovals: boolean;
  /** For a backfill: start over instead of continuing an interrupted one. */
  readonly restart: boolean;
  readonly json: boolean;
  readonly slice?: string;
}

/** The selection that the options and `SIMCAT_SLICE` ask for, with the settings for it: a slice has its share of the request rate. */
export function loadSelection(
  context: Context,
  { library, owner, slice }: Pick<RunOptions, "library" | "owner" | "slice">,
) {
  const selection = parseSelection(library, owner);
  const environment = slice === undefined ? context.environment : { ...context.environment, SIMCAT_SLICE: slice };
  const config = loadServiceSettings({ ...context, environment }, { whole: false });
  if (config.slice === null) return { config, selection };
  if (!isEverything(selection)) {
    throw new UsageError("a slice is a selection of its own", {
      hint: "leave out --library and --owner, or the slice",
    });
  }
  const maxRps = config.maxRps && config.maxRps / config.slice.count;
  return { config: { ...config, maxRps }, selection: { ...selection, slice: config.slice } };
}

/** `sync` and `backfill`: performs one run, shows its progress and prints its summary. */
export async function runOnce(context: Context, kind: RunKind, options: RunOptions): Promise<number> {
  const { allowRemovals, restart, json } = options;
  const { config, selection } = loadSelection(context, options);
  const request: RunRequest = { kind, trigger: "cli", selection, allowRemovals, restart };
  const { result, tell } = await withDatabase(context, config, "migrate", async (pool) => ({
    tell: isEverything(selection) ? await createTell(context, config, pool) : null,
    result: await observeRun(context, config, pool, request, showProgress(context, config).observers),
  }));
  const exitCode = exitCodeOf(result);
  context.print(json ? formatJson(toRunJson(result.summary, exitCode)) : formatSummary(result.summary));
  await tell?.(toRunEnd(result.summary));
  return exitCode;
}

/** Performs one run, which the observers see from its start to its end. */
export async function observeRun(
  context: Context,
  config: ServiceConfig,
  pool: Pool,
  request: RunRequest,
  observers: readonly RunObserver[],
): Promise<RunResult> {
  const { mask, version, stop } = context;
  const onEvent = (event: RunEvent) => {
    for (const one of observers) one.event?.(event);
  };
  const end = () => {
    for (const one of observers) one.end?.();
  };
  try {
    const clock = await createClock(pool, stop);
    return await withService(context, config, toServiceEvents(observers), async (service) => {
      const result = await runSync({ pool, clock, service, settings: config, version, mask, onEvent }, request, stop);
      end();
      for (const one of observers) await one.finished?.(result.summary);
      return result;
    });
  } finally {
    end();
  }
}

const EXIT_CODES: Readonly<Partial<Record<RunStatus, number>>> = {
  ok: EXIT.ok,
  partial: EXIT.partial,
  held: EXIT.held,
  // Also if a table is missing, because the run's row says the same.
  database_failed: EXIT.databaseFailed,
};

function exitCodeOf({ summary, error }: RunResult): number {
  return EXIT_CODES[summary.status] ?? (error instanceof SimcatError ? error.exitCode : EXIT.failed);
}

import type { Config } from "../config.ts";
import { createLog, isColored } from "../log.ts";
import { createProgressLine } from "../output/progress.ts";
import { createRunLog } from "../output/run-log.ts";
import type { Service, ServiceEvent } from "../service/client.ts";
import { withService } from "./connections.ts";
import type { Context } from "./context.ts";
import type { ServiceConfig } from "./settings.ts";

/**
 * Shows the progress of work with the service, and its waits. A terminal shows a line that is redrawn, and log lines only
 * with --verbose. `lines` is null if nothing is logged.
 */
export function showProgress({ terminal, draw, mask, environment }: Context, config: Config) {
  const log = createLog(config, terminal.isErr, draw, mask, isColored(environment, terminal.isErr));
  const isLogged = !terminal.isErr || log.isLevelEnabled("debug");
  const screen = !isLogged && log.isLevelEnabled("info") ? { columns: terminal.columns, draw } : null;
  const runLog = createRunLog(log);
  const progress = createProgressLine(screen, runLog);
  const lines = isLogged ? runLog : null;
  const onServiceEvent = (event: ServiceEvent) => {
    progress.service(event);
    lines?.service(event);
  };
  return { progress, lines, onServiceEvent };
}

/** Runs `work` with a client of the service, for a command that shows only its waits. */
export async function withWatchedService<T>(
  context: Context,
  config: ServiceConfig,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const { progress, onServiceEvent } = showProgress(context, config);
  return withService(context, config, onServiceEvent, work).finally(progress.end);
}

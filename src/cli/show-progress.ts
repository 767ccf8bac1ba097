import type { Config, ServiceConfig } from "../config.ts";
import { createLog } from "../log.ts";
import { createProgressLine } from "../output/progress.ts";
import { createRunLog, type RunObserver } from "../output/run-log.ts";
import type { Service, ServiceEvent } from "../service/client.ts";
import type { RunEvent } from "../sync/run-types.ts";
import { withService } from "./connections.ts";
import type { Context } from "./context.ts";

/**
 * Observes work with the service. A terminal shows its progress on a line that is redrawn, and log lines only with
 * --verbose; without a terminal all of it is logged.
 */
export function showProgress({ terminal, draw, mask }: Context, config: Config) {
  const log = createLog(config, terminal.isErr, draw, mask, terminal.isErrColored);
  const isLogged = !terminal.isErr || log.isLevelEnabled("debug");
  const screen = !isLogged && log.isLevelEnabled("info") ? { terminal, draw } : null;
  const runLog = createRunLog(log);
  const progress = createProgressLine(screen, runLog);
  return { progress, observers: isLogged ? [progress, runLog] : [progress] };
}

/** Runs `work` with a client of the service, and shows its progress and its waits. */
export async function withWatchedService<T>(
  context: Context,
  config: ServiceConfig,
  work: (service: Service, onProgress: (event: RunEvent) => void) => Promise<T>,
): Promise<T> {
  const { progress, observers } = showProgress(context, config);
  const watched = (service: Service) => work(service, progress.event);
  return withService(context, config, toServiceEvents(observers), watched).finally(progress.end);
}

/** Passes each event to all observers. */
export const toServiceEvents = (observers: readonly RunObserver[]) => (event: ServiceEvent) => {
  for (const one of observers) one.service?.(event);
};

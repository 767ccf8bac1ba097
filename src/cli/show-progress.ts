import type { Config, ServiceConfig } from "../config.ts";
import { createLog } from "../log.ts";
import { createProgressLine, createStatusLine } from "../output/progress.ts";
import { createRunLog } from "../output/run-log.ts";
import type { RunRequest } from "../run-summary.ts";
import type { Service } from "../service/client.ts";
import type { ObservedEvent, Observer } from "../sync/run-types.ts";
import { withService } from "./connections.ts";
import type { Context } from "./context.ts";
import { notify } from "./notify.ts";

/** A terminal shows the progress on a line, and log lines only with --verbose; a worker and other streams log all of it. */
export function showProgress(context: Context, config: Config, trigger: RunRequest["trigger"] = "cli") {
  const log = createLog(config, context);
  const isLogged = trigger === "schedule" || !context.terminal.isErr || log.isLevelEnabled("debug");
  const runLog = createRunLog(log);
  const progress = createProgressLine(!isLogged && log.isLevelEnabled("info") ? context : null, runLog);
  return { progress, observers: isLogged ? [progress.observe, runLog.observe] : [progress.observe] };
}

/** How far an export or a prune is: on a line of a terminal, unless only warnings are shown, otherwise in the log. */
export function createWorkLine(context: Context, config: Config, code: string) {
  const isShown = context.terminal.isErr && createLog(config, context).isLevelEnabled("info");
  return createStatusLine(isShown ? context : null, (text) => notify(context, config, "info", code, text));
}

/** Runs `work` with a client of the service, and shows its progress and its waits. */
export async function withWatchedService<T>(
  context: Context,
  config: ServiceConfig,
  work: (service: Service, onProgress: Observer) => Promise<T>,
): Promise<T> {
  const { progress, observers } = showProgress(context, config);
  const watched = (service: Service) => work(service, progress.observe);
  return withService(context, config, toAll(observers), watched).finally(progress.end);
}

/** Passes each event to all observers. */
export const toAll = (observers: readonly Observer[]) => (event: ObservedEvent) => {
  for (const observe of observers) void observe(event);
};

import { EXIT, InterruptedError, SimcatError, toError } from "../errors.ts";
import { createLog, isPretty, type Level, type LogSettings } from "../log.ts";
import { printableLines } from "../printable.ts";
import { type Context, noteText } from "./context.ts";

/** Prints or logs something next to the command's output: a plain line for people, a log line for programs. */
export function notify(context: Context, config: LogSettings, level: Level, code: string, text: string): void {
  const { terminal, mask } = context;
  const log = createLog(config, context);
  if (!log.isLevelEnabled(level)) return;
  const isProblem = level === "warn" || level === "error";
  if (isPretty(config, terminal.isErr)) noteText(context, isProblem ? `simcat: ${printableLines(text)}` : text);
  else log[level]({ code }, mask(text));
}

/** Prints or logs the error that ended a command. Returns the exit code. */
export function printError(context: Context, thrown: unknown): number {
  const { environment, terminal } = context;
  const error = toError(thrown);
  const { SIMCAT_LOG_FORMAT: format } = environment;
  const config = { logFormat: format === "json" || format === "pretty" ? format : "auto", logLevel: "error" } as const;
  if (error instanceof SimcatError) {
    // The summary of an interrupted run has the hint.
    notify(context, config, "error", error.code, error instanceof InterruptedError ? error.summary : error.message);
    return error.exitCode;
  }
  notify(context, config, "error", "failed", error.stack ?? String(error));
  if (isPretty(config, terminal.isErr))
    noteText(context, "This is a bug in simcat or a fault of this machine. Stored data is intact; run it again.");
  return EXIT.failed;
}

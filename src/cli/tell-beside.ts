import type { Config } from "../config.ts";
import { isPretty, openLog } from "../log.ts";
import type { Context } from "./context.ts";

/** What is told beside the work: plain words to people, a log line to machines; to nobody below the level that is wanted. */
export function tellBeside(
  { terminal, note, draw, mask }: Pick<Context, "terminal" | "note" | "draw" | "mask">,
  config: Pick<Config, "logFormat" | "logLevel">,
  level: "info" | "warn",
  code: string,
  text: string,
): void {
  const log = openLog(config, terminal.isErr, draw, mask);
  if (!log.isLevelEnabled(level)) return;
  if (isPretty(config, terminal.isErr)) note(level === "warn" ? `simcat: ${text}` : text);
  else log[level]({ code }, mask(text));
}

import { EXIT, SimcatError } from "../errors.ts";
import { isPretty, openLog } from "../log.ts";
import { printableLines } from "../printable.ts";
import type { Context } from "./context.ts";

/** Tells how a command ended before its time, once, for whoever reads standard error; answers the exit code. */
export function printError({ environment, terminal, note, draw, mask }: Context, thrown: unknown): number {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const logFormat =
    environment.SIMCAT_LOG_FORMAT === "json" ? "json" : environment.SIMCAT_LOG_FORMAT === "pretty" ? "pretty" : "auto";
  const foreseen = error instanceof SimcatError;
  const text = foreseen ? error.message : (error.stack ?? String(error));
  if (isPretty({ logFormat }, terminal.isErr)) {
    note(`simcat: ${printableLines(text)}`);
    if (!foreseen)
      note("This is a bug of simcat's, or an accident of the machine. What was stored is whole; run it again.");
  } else {
    const log = openLog({ logFormat, logLevel: "error" }, terminal.isErr, draw, mask);
    log.error({ code: foreseen ? error.code : "failed" }, mask(text));
  }
  return foreseen ? error.exitCode : EXIT.failed;
}

import { type CheckLine, checkExitCode, formatChecks, toChecksJson } from "../output/check-lines.ts";
import { checkConfiguration } from "./check/check-configuration.ts";
import { checkDatabase } from "./check/check-database.ts";
import { checkService } from "./check/check-service.ts";
import { type DefineCommand, type JsonOptions, jsonOption } from "./command.ts";
import { type Context, outputLook, printJson, printResult } from "./context.ts";

export const defineCheck: DefineCommand = (command, run) => command.addOption(jsonOption()).action(run(check));

/** Prints a line for each requirement of a run. Exits with the code of the first line that fails. */
export async function check(context: Context, { json }: JsonOptions): Promise<number> {
  const lines = [...checkConfiguration(context), ...(await checkService(context)), ...(await checkDatabase(context))];
  if (!json) return printChecks(context, lines, formatChecks);
  printJson(context, toChecksJson(lines, context.mask));
  return checkExitCode(lines);
}

/** Returns their exit code. */
export function printChecks(context: Context, lines: readonly CheckLine[], format: typeof formatChecks): number {
  const isWell = lines.every(({ result }) => result === "ok");
  printResult(context, isWell, context.mask(format(lines, outputLook(context))));
  return checkExitCode(lines);
}

import { formatJson } from "../format.ts";
import { checkExitCode, formatChecks, toChecksJson } from "../output/check.ts";
import { checkConfiguration } from "./check/check-configuration.ts";
import { checkDatabase } from "./check/check-database.ts";
import { checkService } from "./check/check-service.ts";
import { type DefineCommand, type JsonOptions, jsonOption } from "./command.ts";
import { type Context, outputLook, printResult } from "./context.ts";

export const defineCheck: DefineCommand = (command, run) => command.addOption(jsonOption()).action(run(check));

/** Prints a line for each requirement of a run. Exits with the code of the first line that fails. */
export async function check(context: Context, { json }: JsonOptions): Promise<number> {
  const found = [...checkConfiguration(context), ...(await checkService(context)), ...(await checkDatabase(context))];
  const { mask } = context;
  const lines = found.map(({ text, hint, details, ...line }) => ({
    ...line,
    text: mask(text),
    hint: hint === null ? null : mask(hint),
    details: details.map(mask),
  }));
  const isWell = lines.every(({ result }) => result === "ok");
  if (json) context.print(formatJson(toChecksJson(lines)));
  else printResult(context, isWell, formatChecks(lines, outputLook(context)));
  return checkExitCode(lines);
}

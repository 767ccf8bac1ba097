import type { Command } from "commander";
import type { CheckLine } from "../output/check.ts";
import { type ActionRunner, createCommand, type JsonOptions, jsonOption } from "./command.ts";
import type { Context } from "./context.ts";

export function checkCommand(run: ActionRunner): Command {
  const description = "check configuration, service, key, database, privileges and schema";
  return createCommand("check", description, "simcat check").addOption(jsonOption()).action(run(check));
}

/** Prints a line for each requirement of a run. Exits with the code that a run would end with. */
export async function check(context: Context, { json }: JsonOptions): Promise<number> {
  const { checkConfiguration } = await import("./check/check-configuration.ts");
  const { checkService } = await import("./check/check-service.ts");
  const { checkDatabase } = await import("./check/check-database.ts");
  const { checkExitCode, formatChecks, toChecksJson } = await import("../output/check.ts");
  const { formatJson } = await import("../format.ts");

  const found = [...checkConfiguration(context), ...(await checkService(context)), ...(await checkDatabase(context))];
  const lines = found.map((line) => maskLine(line, context.mask));
  context.print(json ? formatJson(toChecksJson(lines)) : formatChecks(lines));
  return checkExitCode(lines);
}

function maskLine(line: CheckLine, mask: Context["mask"]): CheckLine {
  const { text, hint, details } = line;
  return { ...line, text: mask(text), hint: hint === null ? null : mask(hint), details: details.map(mask) };
}

import { formatJson } from "../format.ts";
import { type CheckLine, exitCodeOf, formatChecks, toChecksJson } from "../report/check.ts";
import { checkConfiguration } from "./check/configuration.ts";
import { checkDatabase } from "./check/database.ts";
import { checkService } from "./check/service.ts";
import type { Context } from "./context.ts";

/** Everything that a run needs, a line each; ends as the first that fails would end a run. */
export async function check(context: Context, { json }: { readonly json: boolean }): Promise<number> {
  const found = [...checkConfiguration(context), ...(await checkService(context)), ...(await checkDatabase(context))];
  const lines = found.map((line) => maskLine(line, context.mask));
  context.print(json ? formatJson(toChecksJson(lines)) : formatChecks(lines));
  return exitCodeOf(lines);
}

function maskLine(line: CheckLine, mask: Context["mask"]): CheckLine {
  const { text, hint, details } = line;
  return { ...line, text: mask(text), hint: hint === null ? null : mask(hint), details: details.map(mask) };
}

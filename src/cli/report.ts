import { resolve } from "node:path";
import { fileErrorReason, UsageError } from "../errors.ts";
import { formatBytes } from "../format.ts";
import { formatReport, readReport } from "../report/report-page/report-page.ts";
import { assertKnown } from "../sync/assert-known.ts";
import { CENTURY_MS } from "../units.ts";
import {
  type DefineCommand,
  type JsonOptions,
  jsonOption,
  ownerOption,
  parseDurationOption,
  parseText,
} from "./command.ts";
import { withDatabase } from "./connections.ts";
import { type Context, printJson, printResult } from "./context.ts";
import { loadSettings } from "./load-settings.ts";
import { writeOutput } from "./write-output.ts";

interface ReportOptions extends JsonOptions {
  readonly out: string;
  readonly since: string;
  readonly title?: string;
  readonly owner: readonly string[];
}

export const defineReport: DefineCommand = (command, run) =>
  command
    .option("--out <FILE>", "the file to write, or - for standard output", parseText, "simcat-report.html")
    .option("--since <DURATION>", "how far back to list changes, such as 30d", "7d")
    .option("--title <TEXT>", "the heading (default: the service and the database)", (text) => parseText(text.trim()))
    .addOption(ownerOption())
    .addOption(jsonOption())
    .action(run(report));

export async function report(context: Context, { out, since, title, owner, json }: ReportOptions): Promise<void> {
  const sinceMs = parseDurationOption("--since", since, "7d, 36h or 90m");
  if (sinceMs > CENTURY_MS) throw new UsageError(`--since ${since} is longer than 36500d, which is the maximum`);
  const scope = { sinceMs, owners: [...new Set(owner)] };
  const config = loadSettings(context, { service: false, database: true, whole: true });
  const rows = await withDatabase(context, config, "require", async (pool, source) => {
    await assertKnown({ libraries: [], owners: scope.owners }, { listing: null, pool, source }, context.stop);
    return readReport(pool, scope, context.stop);
  });
  const { page, findings } = formatReport(rows, context.version, config.baseUrl?.host ?? null, title ?? null);
  const file = out === "-" ? "/dev/stdout" : resolve(out);
  const bytes = Buffer.from(page, "utf8");
  // Not opened, because a socket cannot be opened by its path, and a file would be replaced.
  const isPrinted = file === "/dev/stdout";
  if (isPrinted) context.print(page.trimEnd());
  else
    await writeOutput(file, bytes, context.stop).catch((error) => {
      context.stop.throwIfAborted();
      const problem = `the report cannot be written to ${file}: ${fileErrorReason(error)}`;
      throw new UsageError(problem, { hint: "choose another place with --out", cause: error });
    });
  // Standard output contains only the page if the page was written there.
  const { draw, terminal } = context;
  const beside = { print: (text: string) => draw(`${text}\n`), terminal: { ...terminal, isOut: terminal.isErr } };
  const target = isPrinted ? { ...context, ...beside } : context;
  if (json) {
    const { now: at, since } = rows;
    printJson(target, { file, bytes: bytes.length, at, since, owners: scope.owners, findings });
  } else {
    const lines = Object.values(findings).map((finding) => `  ${finding}`);
    printResult(target, true, [`report: ${file} (${formatBytes(bytes.length)})`, ...lines].join("\n"));
  }
}

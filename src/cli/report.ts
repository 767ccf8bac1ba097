import { resolve } from "node:path";
import type { Command } from "commander";
import { EXIT, fileErrorReason, UsageError } from "../errors.ts";
import { DAY_MS } from "../units.ts";
import {
  type ActionRunner,
  createCommand,
  type JsonOptions,
  jsonOption,
  ownerOption,
  parseDurationOption,
} from "./command.ts";
import type { Context } from "./context.ts";

interface ReportOptions extends JsonOptions {
  readonly out: string;
  readonly since: string;
  readonly owner: readonly string[];
}

export function reportCommand(run: ActionRunner): Command {
  const description = "write an HTML page with charts: contents, changes, what needs attention";
  return createCommand("report", description, "simcat report --since 30d --out simcat-report.html")
    .option("--out <FILE>", "the file to write", "simcat-report.html")
    .option("--since <DURATION>", "how far back to list changes, such as 30d", "7d")
    .addOption(ownerOption())
    .addOption(jsonOption())
    .action(run(report));
}

export async function report(context: Context, { out, since, owner, json }: ReportOptions): Promise<number> {
  const { loadSettings } = await import("./settings.ts");
  const { withDatabase } = await import("./connections.ts");
  const { assertKnown } = await import("../sync/assert-known.ts");
  const { formatReport, readReport } = await import("../report/report-page/report-page.ts");
  const { formatBytes, formatJson } = await import("../format.ts");

  const scope = { sinceMs: parseSince(since), owners: [...new Set(owner)] };
  const config = loadSettings(context, { service: false, database: true, whole: true });
  const rows = await withDatabase(context, config, "require", async (pool, source) => {
    await assertKnown({ libraries: [], owners: scope.owners }, { listing: null, pool, source }, context.stop);
    return readReport(pool, scope, context.stop);
  });
  const { page, findings } = formatReport(rows, context.version, config.baseUrl?.host ?? null);
  const file = resolve(out);
  const bytes = Buffer.from(page, "utf8");
  const isPrinted = await writePage(file, bytes, context.stop);
  // Standard output contains only the page if the page was written there.
  const print = isPrinted ? (text: string) => context.draw(`${text}\n`) : context.print;
  if (json) {
    const times = { at: rows.now.toISOString(), since: rows.since.toISOString() };
    print(formatJson({ file, bytes: bytes.length, ...times, owners: scope.owners, findings }));
  } else {
    const lines = Object.values(findings).map((finding) => `  ${finding}`);
    print([`report: ${file} (${formatBytes(bytes.length)})`, ...lines].join("\n"));
  }
  return EXIT.ok;
}

/** Every system can represent dates of the last 100 years. */
const MAX_SINCE_MS = 100 * 365 * DAY_MS;

function parseSince(text: string): number {
  const ms = parseDurationOption("--since", text, "7d, 36h or 90m");
  if (ms > MAX_SINCE_MS) throw new UsageError(`--since ${text} is longer than 36500d, which is the maximum`);
  return ms;
}

/** @returns true if the page was written to standard output */
async function writePage(file: string, bytes: Buffer, signal: AbortSignal): Promise<boolean> {
  const { writeOutput } = await import("./write-output.ts");
  try {
    return await writeOutput(file, bytes, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new UsageError(`the report cannot be written to ${file}: ${fileErrorReason(error)}`, {
      hint: "choose another place with --out",
      cause: error,
    });
  }
}

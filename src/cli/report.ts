import { resolve } from "node:path";
import { readReport } from "../db/read/read-report.ts";
import { EXIT, UsageError } from "../errors.ts";
import { formatBytes, formatJson } from "../format.ts";
import { DAY_MS, parseDuration } from "../units.ts";
import type { Context } from "./context.ts";
import { loadSettings } from "./settings.ts";
import { withDatabase } from "./with-database.ts";
import { writeOutput } from "./write-output.ts";

export interface ReportOptions {
  readonly out: string;
  readonly since: string;
  readonly owner: readonly string[];
  readonly json: boolean;
}

/** A page with pictures of what the database holds, in a file of its own. */
export async function report(context: Context, { out, since, owner, json }: ReportOptions): Promise<number> {
  const scope = { sinceMs: parseSince(since), owners: [...new Set(owner)] };
  const config = loadSettings(context, { service: false, database: true });
  const rows = await withDatabase(context, config, "require", (pool) => readReport(pool, scope, context.stop));
  const [{ createChartRenderer }, { formatReport }] = await Promise.all([
    import("../report/charts/chart-renderer.ts"),
    import("../report/report-page/report-page.ts"),
  ]);
  const { page, findings } = formatReport(rows, context.version, await createChartRenderer());
  const file = resolve(out);
  const bytes = Buffer.from(page, "utf8");
  const isPrinted = await writePage(file, bytes, context.stop);
  const tell = isPrinted ? (text: string) => context.draw(`${text}\n`) : context.print;
  tell(
    json
      ? formatJson({
          file,
          bytes: bytes.length,
          at: rows.now.toISOString(),
          since: rows.since.toISOString(),
          owners: scope.owners,
          findings,
        })
      : [
          `report: ${file} (${formatBytes(bytes.length)})`,
          ...Object.values(findings).map((finding) => `  ${finding}`),
        ].join("\n"),
  );
  return EXIT.ok;
}

/** As far back as dates go that every system knows. */
const LONGEST_MS = 100 * 365 * DAY_MS;

function parseSince(text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new UsageError(`--since ${JSON.stringify(text)} is no duration; write it as 7d, 36h or 90m`);
  if (ms > LONGEST_MS) throw new UsageError(`--since ${text} is longer than 36500d, which is the most`);
  return ms;
}

/** @returns whether it went to standard output */
async function writePage(file: string, bytes: Buffer, signal: AbortSignal): Promise<boolean> {
  try {
    return await writeOutput(file, bytes, signal);
  } catch (error) {
    signal.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`the report cannot be written to ${file}: ${why}; choose another place with --out`, {
      cause: error,
    });
  }
}

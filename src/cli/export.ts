import { resolve } from "node:path";
import { Option } from "commander";
import { UsageError } from "../errors.ts";
import { parseMoment } from "../export/export-state.ts";
import { exportViews, type Manifest } from "../export/export-views.ts";
import { csvFormat, type ExportFormat, jsonlFormat } from "../export/formats.ts";
import { formatBytes, formatCount, plural } from "../format.ts";
import { formatTable } from "../output/table.ts";
import { assertKnown } from "../sync/assert-known.ts";
import { type DefineCommand, type JsonOptions, jsonOption, ownerOption, parseText } from "./command.ts";
import { withDatabase } from "./connections.ts";
import { type Context, outputWidth, printJson, printResult } from "./context.ts";
import { loadSettings } from "./load-settings.ts";
import { notify } from "./notify.ts";
import { createWorkLine } from "./show-progress.ts";

const FORMATS = ["parquet", "csv", "jsonl"] as const;

interface ExportOptions extends JsonOptions {
  readonly format: (typeof FORMATS)[number];
  readonly safeCsv?: boolean;
  readonly out: string;
  readonly asOf?: string;
  readonly since?: string;
  readonly owner: readonly string[];
}

export const defineExport: DefineCommand = (command, run) =>
  command
    .argument("[VIEW...]", "views of simcat_report (default: libraries, scenarios, activity)")
    .addOption(new Option("--format <FORMAT>", "the file format").choices(FORMATS).default("parquet"))
    .option("--safe-csv", "escape CSV cells that a spreadsheet would run as a formula, with an apostrophe")
    .option("--out <DIR>", "the directory to write to; it is created", parseText, "simcat-export")
    .option("--as-of <MOMENT>", "as the organization was then, such as 2026-07-01 or 2026-07-01T12:00:00Z")
    .option("--since <MOMENT>", "only rows that were stored or seen since then; 7d is seven days ago")
    .addOption(ownerOption())
    .addOption(jsonOption())
    .action(run(exportFiles));

async function exportFiles(context: Context, options: ExportOptions, ...views: string[]): Promise<void> {
  const { stop, version } = context;
  const moment = (option: string, text: string | undefined) => (text === undefined ? null : parseMoment(option, text));
  const [asOf, since] = [moment("--as-of", options.asOf), moment("--since", options.since)];
  const owners = [...new Set(options.owner)];
  const format = await loadFormat(options);
  const config = loadSettings(context, { service: false, database: true });
  const directory = resolve(options.out);
  const line = createWorkLine(context, config, "export_progress");
  const onProgress = (view: string, rows: number) => line.show(`${view}: ${plural(rows, "row")}`);
  const manifest = await withDatabase(context, config, "require", async (pool, source) => {
    await assertKnown({ libraries: [], owners }, { listing: null, pool, source }, stop);
    return exportViews(pool, { views, format, directory, asOf, since, owners, version, onProgress }, stop);
  }).finally(line.end);
  for (const warning of manifest.warnings) notify(context, config, "warn", "export_cut_short", warning);
  if (options.json) printJson(context, manifest);
  else printResult(context, manifest.warnings.length === 0, formatExport(directory, manifest, outputWidth(context)));
}

/** Each format is imported when it is used. @throws UsageError for --safe-csv with another format than CSV */
async function loadFormat({ format, safeCsv = false }: ExportOptions): Promise<ExportFormat> {
  if (safeCsv && format !== "csv") throw new UsageError("--safe-csv needs --format csv");
  if (format === "parquet") return (await import("../export/parquet-format.ts")).parquetFormat;
  return format === "csv" ? csvFormat(safeCsv) : jsonlFormat;
}

function formatExport(directory: string, manifest: Manifest, columns: number): string {
  const { views } = manifest;
  const rows = views.map(({ file, rows, bytes }) => [file, formatCount(rows), formatBytes(bytes)]);
  const head = `export: ${directory} (${plural(views.length, "view")}); ${formatState(manifest)}`;
  return `${head}\n${formatTable(["FILE", "ROWS", "SIZE"], rows, columns)}`;
}

/** As of when the rows are: no later than the copy is complete. The texts have one length, so they sort like their times. */
function formatState({ complete_as_of, exported_at, filters: { as_of } }: Manifest): string {
  if (as_of !== null && as_of <= (complete_as_of ?? "")) return `as of ${as_of}, exported at ${exported_at}`;
  if (complete_as_of !== null) return `complete as of ${complete_as_of}, exported at ${exported_at}`;
  const moment = as_of === null ? "" : `as of ${as_of}; `;
  return `${moment}the copy is not complete yet: no run has stored every library, or a cache does not say how old its answers are`;
}

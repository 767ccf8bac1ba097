import type { Connection, Pool } from "../db/connect.ts";
import { quoteIdentifier } from "../db/read/export-columns.ts";
import { type ExportState, type Moment, readExportState } from "../db/read/export-state.ts";
import { type ReportView, readReportViews } from "../db/read/report-views.ts";
import { cancelOnAbort, streamCursor } from "../db/read/stream-cursor.ts";
import { withTransaction } from "../db/transaction.ts";
import { UsageError } from "../errors.ts";
import { createExportFiles, type ExportFiles } from "./export-files.ts";
import type { ExportFormat } from "./export-format.ts";
import { planExport, toSelect } from "./plan-export.ts";

export interface ExportRequest {
  /** The default views if it is empty. */
  readonly views: readonly string[];
  readonly format: ExportFormat;
  readonly directory: string;
  readonly asOf: Moment | null;
  readonly since: Moment | null;
  readonly owners: readonly string[];
  readonly version: string;
  readonly onProgress: (progress: ExportProgress) => void;
}

/** The view that is being written: the `index`-th of `count`, with this many rows so far. */
export interface ExportProgress {
  readonly view: string;
  readonly index: number;
  readonly count: number;
  readonly rows: number;
}

/** The description of an export: the content of `manifest.json`. */
export type Manifest = Awaited<ReturnType<typeof writeViews>>;

/** How long an export waits for the locks of all its tables, in milliseconds. */
const LOCK_PATIENCE_MS = 60_000;

/**
 * Writes views of simcat_report to files, all from one snapshot of the database. Locks all tables before it writes a row, so
 * that waiting costs no work.
 * @throws UsageError for an unknown view, a filter that does not apply, or a directory that cannot be written to
 */
export async function exportViews(pool: Pool, request: ExportRequest, signal: AbortSignal): Promise<Manifest> {
  const files = createExportFiles(request.directory);
  const options = { operation: "exporting", snapshot: true, lockTimeoutMs: LOCK_PATIENCE_MS, lockAttempts: 1 };
  const read = (connection: Connection) => {
    // If the connection was lost, the transaction is repeated from its start.
    files.discard();
    return cancelOnAbort(pool, connection, () => writeViews(connection, request, files, signal), signal);
  };
  try {
    const manifest = await withTransaction(pool, options, read, signal);
    files.publish();
    return manifest;
  } finally {
    files.discard();
  }
}

async function writeViews(
  connection: Connection,
  { views: names, format, asOf, since, owners, version, onProgress }: ExportRequest,
  files: ExportFiles,
  signal: AbortSignal,
) {
  const all = await readReportViews(connection);
  const planned = planExport(all, names, { asOf, since, owners });
  const read = ["data_complete_as_of", ...(asOf === null ? [] : ["library_versions", "scenario_versions"])];
  await lockTables(connection, [...planned.map(({ view }) => view), ...all.filter(({ name }) => read.includes(name))]);
  const state = await readExportState(connection, asOf, since);
  assertMoments(state);
  const filters = { asOf: state.asOf, since: state.since, owners };
  const facts = {
    simcat_version: version,
    exported_at: state.exportedAt,
    complete_as_of: state.completeAsOf,
    history_complete_since: state.historyCompleteSince,
  };
  const views = [];
  for (const [at, one] of planned.entries()) {
    const { view, columns } = one;
    const stamp = {
      ...facts,
      view: view.name,
      as_of: state.asOf,
      since: state.since,
      owners: owners.length === 0 ? null : JSON.stringify(owners),
    };
    const onFetched = (rows: number) => onProgress({ view: view.name, index: at + 1, count: planned.length, rows });
    const file = `${view.name}.${format.extension}`;
    let rows = 0;
    const bytes = await files.write(file, async (write) => {
      const encoder = format.createEncoder({ columns, stamp, version, write });
      const select = toSelect(one, filters, format.times);
      rows = await streamCursor(connection, select, { onRow: encoder.add, onFetched }, signal);
      encoder.end();
    });
    const described = columns.map(({ name, type, comment }) => ({ name, type, comment }));
    views.push({ view: view.name, file, rows, bytes, comment: view.comment, columns: described });
  }
  const manifest = {
    ...facts,
    format: format.extension,
    safe_csv: format.isSafe,
    filters: { as_of: state.asOf, since: state.since, owners },
    views,
  };
  await files.write("manifest.json", async (write) => write(Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)));
  return manifest;
}

/** A lock of a view includes the tables under it, with the rights of the view's owner. */
async function lockTables(connection: Connection, views: readonly ReportView[]): Promise<void> {
  const names = views.filter(({ isView }) => isView).map(({ name }) => `simcat_report.${quoteIdentifier(name)}`);
  await connection.query(`LOCK TABLE ${names.join(", ")} IN ACCESS SHARE MODE`);
}

function assertMoments(state: ExportState): void {
  const { asOf, since, exportedAt, historyCompleteSince } = state;
  const now = `by the database's clock it is ${exportedAt}`;
  if (state.asOfIsInFuture) throw new UsageError(`--as-of ${asOf} is in the future: ${now}`);
  if (state.sinceIsInFuture) throw new UsageError(`--since ${since} is in the future: ${now}`);
  if (state.asOfIsTooEarly) {
    throw new UsageError(`--as-of ${asOf} is too early: the history is complete since ${historyCompleteSince}`, {
      hint: "choose that moment or a later one",
    });
  }
}

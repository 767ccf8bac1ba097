import type { Connection, Pool } from "../db/connect.ts";
import { type ExportState, type Moment, readExportState } from "../db/read/export-state.ts";
import { readReportViews } from "../db/read/report-views.ts";
import { cancelOnAbort, streamCursor } from "../db/read/stream-cursor.ts";
import { readSnapshot } from "../db/transaction.ts";
import { UsageError } from "../errors.ts";
import { createExportFiles, type ExportFiles } from "./export-files.ts";
import { type ExportedView, type Manifest, toManifest, toStamp } from "./manifest.ts";
import { type ExportFilters, type PlannedView, planExport, toSelect } from "./plan-export.ts";
import type { ExportFormat } from "./row-encoder.ts";

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

const MANIFEST_FILE = "manifest.json";

/**
 * Writes views of simcat_report to files, all from one snapshot of the database.
 * @throws UsageError for an unknown view, a filter that does not apply, or a directory that cannot be written to
 */
export async function exportViews(pool: Pool, request: ExportRequest, signal: AbortSignal): Promise<Manifest> {
  const files = createExportFiles(request.directory);
  const read = (connection: Connection) => {
    // If the connection was lost, the transaction is repeated from its start.
    files.discard();
    return cancelOnAbort(pool, connection, () => writeViews(connection, request, files, signal), signal);
  };
  try {
    const manifest = await readSnapshot(pool, "exporting", read, signal);
    files.publish();
    return manifest;
  } finally {
    files.discard();
  }
}

async function writeViews(
  connection: Connection,
  request: ExportRequest,
  files: ExportFiles,
  signal: AbortSignal,
): Promise<Manifest> {
  const { views: names, format, asOf, since, owners, version } = request;
  const planned = planExport(await readReportViews(connection), names, { asOf, since, owners });
  const state = await readExportState(connection, asOf, since);
  assertMoments(state);
  const filters = { asOf: state.asOf, since: state.since, owners };
  const views: ExportedView[] = [];
  for (const [at, one] of planned.entries()) {
    const onFetched = (rows: number) =>
      request.onProgress({ view: one.view.name, index: at + 1, count: planned.length, rows });
    views.push(await writeView(connection, one, { request, state, filters, files, onFetched }, signal));
  }
  const manifest = toManifest(version, format.extension, state, filters, views);
  const file = files.open(MANIFEST_FILE);
  file.write(Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`));
  file.end();
  return manifest;
}

interface ViewContext {
  readonly request: ExportRequest;
  readonly state: ExportState;
  readonly filters: ExportFilters;
  readonly files: ExportFiles;
  readonly onFetched: (rows: number) => void;
}

async function writeView(
  connection: Connection,
  planned: PlannedView,
  { request: { format, version }, state, filters, files, onFetched }: ViewContext,
  signal: AbortSignal,
): Promise<ExportedView> {
  const file = files.open(`${planned.view.name}.${format.extension}`);
  const stamp = toStamp(version, state, filters, planned.view.name);
  const encoder = format.createEncoder({ columns: planned.columns, stamp, version, write: file.write });
  const select = toSelect(planned, filters, format.times);
  const rows = await streamCursor(connection, select, { onRow: encoder.add, onFetched }, signal);
  encoder.end();
  file.end();
  return { ...planned, file: file.name, rows, bytes: file.bytes };
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

import type { Connection, Pool } from "../db/connect.ts";
import { cancelOnAbort, streamRows } from "../db/read/stream-rows.ts";
import { withTransaction } from "../db/transaction.ts";
import { createExportFiles, type ExportFiles } from "./export-files.ts";
import { type Moment, readExportState } from "./export-state.ts";
import type { ExportFormat } from "./formats.ts";
import { findCutShort, type KnownView, planExport, quoteIdentifier, SELECT_VIEWS, toSelect } from "./plan-export.ts";

export interface ExportRequest {
  /** The default views if it is empty. */
  readonly views: readonly string[];
  readonly format: ExportFormat;
  readonly directory: string;
  readonly asOf: Moment | null;
  readonly since: Moment | null;
  readonly owners: readonly string[];
  readonly version: string;
  /** The view that is being written, such as `libraries (1 of 3)`, and the number of its rows so far. */
  readonly onProgress: (view: string, rows: number) => void;
}

/** The description of an export: the content of `manifest.json`. */
export type Manifest = Awaited<ReturnType<typeof writeViews>>;

/** How long an export waits for the lock of each of its tables, in milliseconds. */
const LOCK_PATIENCE_MS = 60_000;
const ROWS_PER_PROGRESS = 1_000;

/**
 * Writes views of simcat_report to files, all from one snapshot of the database. Locks all tables before it writes a row, so
 * that waiting costs no work.
 * @throws UsageError for an unknown view, a filter that does not apply, or a directory that cannot be written to;
 * ConfigurationError if the database lacks a view
 */
export async function exportViews(pool: Pool, request: ExportRequest, signal: AbortSignal): Promise<Manifest> {
  const files = createExportFiles(request.directory);
  const options = { operation: "exporting", snapshot: true, lockTimeoutMs: LOCK_PATIENCE_MS, lockAttempts: 1 };
  const read = (connection: Connection) => {
    // If the connection was lost, the transaction is repeated from its start.
    files.discard();
    return cancelOnAbort(pool, connection, () => writeViews(connection, request, files), signal);
  };
  try {
    const manifest = await withTransaction(pool, options, read, signal);
    files.publish();
    return manifest;
  } finally {
    files.discard();
  }
}

async function writeViews(connection: Connection, request: ExportRequest, files: ExportFiles) {
  const { format, owners, version, onProgress } = request;
  const { rows: all } = await connection.query<KnownView>(SELECT_VIEWS);
  const planned = planExport(all, request.views, request);
  const read = ["data_complete_as_of", ...(request.asOf === null ? [] : ["library_versions", "scenario_versions"])];
  const locked = [...planned.map(({ view }) => view.name), ...read].map(
    (name) => `simcat_report.${quoteIdentifier(name)}`,
  );
  // A lock of a view includes the tables under it, with the rights of the view's owner.
  await connection.query(`LOCK TABLE ${locked.join(", ")} IN ACCESS SHARE MODE`);
  const state = await readExportState(connection, request.asOf, request.since);
  const { as_of, since, events_complete_since: _, ...stored } = state;
  const facts = { simcat_version: version, ...stored };
  const ownersJson = owners.length === 0 ? null : JSON.stringify(owners);
  const views = [];
  for (const [at, one] of planned.entries()) {
    const { name: view, comment } = one.view;
    const stamp = { ...facts, view, as_of, since, owners: ownersJson };
    const file = `${view}.${format.extension}`;
    const select = toSelect(one, { as_of, since, owners }, format.times);
    let rows = 0;
    const bytes = await files.write(file, async (write) => {
      const encoder = format.createEncoder({ columns: one.columns, stamp, version, write });
      await streamRows<string[]>(connection, select, (row) => {
        encoder.add(row);
        rows += 1;
        if (rows % ROWS_PER_PROGRESS === 0) onProgress(`${view} (${at + 1} of ${planned.length})`, rows);
      });
      encoder.end();
    });
    views.push({ view, file, rows, bytes, comment, columns: one.columns });
  }
  const filters = { as_of, since, owners };
  const warnings = findCutShort(planned, state);
  const manifest = { ...facts, format: format.extension, safe_csv: format.isSafe, filters, warnings, views };
  await files.write("manifest.json", async (write) => write(Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)));
  return manifest;
}

import type { ExportState } from "../db/read/export-state.ts";
import type { ExportFilters, PlannedView } from "./plan-export.ts";

/** The description of an export: the content of `manifest.json`. */
export type Manifest = ReturnType<typeof toManifest>;

export interface ExportedView extends PlannedView {
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
}

export function toManifest(
  version: string,
  format: string,
  state: ExportState,
  filters: ExportFilters,
  views: readonly ExportedView[],
) {
  return {
    simcat_version: version,
    format,
    exported_at: state.exportedAt,
    complete_as_of: state.completeAsOf,
    history_complete_since: state.historyCompleteSince,
    filters: { as_of: filters.asOf, since: filters.since, owners: filters.owners },
    views: views.map(({ view, columns, file, rows, bytes }) => ({
      view: view.name,
      file,
      rows,
      bytes,
      comment: view.comment,
      columns: columns.map(({ name, type, comment }) => ({ name, type, comment })),
    })),
  };
}

/** The facts of the manifest that each Parquet file repeats. */
export function toStamp(version: string, state: ExportState, filters: ExportFilters, view: string) {
  return {
    simcat_version: version,
    view,
    exported_at: state.exportedAt,
    complete_as_of: state.completeAsOf,
    history_complete_since: state.historyCompleteSince,
    as_of: filters.asOf,
    since: filters.since,
    owners: filters.owners.length === 0 ? null : JSON.stringify(filters.owners),
  };
}

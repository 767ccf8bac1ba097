import type { ExportProgress, Manifest } from "../export/export-views.ts";
import { formatBytes, formatCount, plural } from "../format.ts";
import { formatTable } from "./table.ts";

/** The summary at the end of an export. */
export function formatExport(
  directory: string,
  { views, complete_as_of, exported_at }: Manifest,
  columns: number,
): string {
  const rows = views.map(({ file, rows, bytes }) => [file, formatCount(rows), formatBytes(bytes)]);
  const state =
    complete_as_of === null
      ? "the copy is not complete yet: no run has stored every library"
      : `complete as of ${complete_as_of}, exported at ${exported_at}`;
  return [
    `export: ${directory} (${plural(views.length, "view")}); ${state}`,
    formatTable(["FILE", "ROWS", "SIZE"], rows, columns),
  ].join("\n");
}

export const formatExportProgress = ({ view, index, count, rows }: ExportProgress) =>
  `${view} (${index} of ${count}): ${plural(rows, "row")}`;

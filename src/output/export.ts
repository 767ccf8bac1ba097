import type { ExportProgress, Manifest } from "../export/export-views.ts";
import { formatBytes, formatCount, formatElapsed, plural } from "../format.ts";
import { clearLine, drawLine, type Screen } from "./screen.ts";
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

const REDRAW_MS = 200;
const LOG_MS = 30_000;

/** Redraws a line of a terminal. Without a terminal, calls `log` now and then. */
export function createExportProgress(screen: Screen | null, log: (text: string) => void) {
  const startedAt = performance.now();
  let shownAt = startedAt;
  let isDrawn = false;
  return {
    show({ view, index, count, rows }: ExportProgress) {
      const now = performance.now();
      if (now - shownAt < (screen === null ? LOG_MS : REDRAW_MS)) return;
      shownAt = now;
      isDrawn = screen !== null;
      const text = `${view} (${index} of ${count}): ${plural(rows, "row")}, ${formatElapsed(now - startedAt)}`;
      if (screen === null) log(text);
      else drawLine(screen, text);
    },
    /** Clears the line. */
    end() {
      if (screen !== null && isDrawn) clearLine(screen);
    },
  };
}

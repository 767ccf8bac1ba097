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

export interface ExportProgressLine {
  readonly show: (progress: ExportProgress) => void;
  /** Clears the line. */
  readonly end: () => void;
}

/** Redraws a terminal line five times per second. Without a terminal, calls `log` every 30 seconds. */
export function createExportProgress(screen: Screen | null, log: (text: string) => void): ExportProgressLine {
  const everyMs = screen ? 200 : 30_000;
  const startedAt = performance.now();
  let shownAt = startedAt;
  let isDrawn = false;
  return {
    show({ view, index, count, rows }) {
      const now = performance.now();
      if (now - shownAt < everyMs) return;
      shownAt = now;
      const text = `${view} (${index} of ${count}): ${plural(rows, "row")}, ${formatElapsed(now - startedAt)}`;
      if (screen === null) return log(text);
      drawLine(screen, text);
      isDrawn = true;
    },
    end() {
      if (screen !== null && isDrawn) clearLine(screen);
      isDrawn = false;
    },
  };
}

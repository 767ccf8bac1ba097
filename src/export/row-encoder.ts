import type { ExportColumn, TimeNotation } from "../db/read/export-columns.ts";
import type { TextRow } from "../db/read/stream-cursor.ts";

/** Encodes the rows of one file. */
interface RowEncoder {
  /** Adds a row with the values of the columns, as the server prints them. */
  add(row: TextRow): void;
  /** Writes everything that is not written yet. */
  end(): void;
}

/** The facts about an export that each Parquet file has in its metadata; null for one that is not known. */
export type Stamp = Readonly<Record<string, string | null>>;

interface RowEncoderOptions {
  readonly columns: readonly ExportColumn[];
  readonly stamp: Stamp;
  readonly version: string;
  readonly write: (bytes: Uint8Array) => void;
}

/** A file format. */
export interface ExportFormat {
  readonly extension: string;
  readonly times: TimeNotation;
  createEncoder(options: RowEncoderOptions): RowEncoder;
}

/** In characters. */
const BUFFER_CHARS = 256 * 1024;

/** Collects lines and writes them as UTF-8, in large pieces. */
export function createLineWriter(write: (bytes: Uint8Array) => void): { add(line: string): void; end(): void } {
  let lines = "";
  const end = () => {
    if (lines !== "") write(Buffer.from(lines, "utf8"));
    lines = "";
  };
  return {
    add(line) {
      lines += line;
      if (lines.length >= BUFFER_CHARS) end();
    },
    end,
  };
}

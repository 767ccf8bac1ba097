import type { ExportColumn, TimeNotation } from "../db/read/export-columns.ts";
import type { TextRow } from "../db/read/stream-cursor.ts";

/** A file format. */
export interface ExportFormat {
  readonly extension: string;
  /** Whether cells that a spreadsheet would run as a formula are escaped. */
  readonly isSafe: boolean;
  readonly times: TimeNotation;
  createEncoder(options: RowEncoderOptions): RowEncoder;
}

interface RowEncoderOptions {
  readonly columns: readonly ExportColumn[];
  readonly stamp: Stamp;
  readonly version: string;
  readonly write: (bytes: Uint8Array) => void;
}

/** Encodes the rows of one file. */
interface RowEncoder {
  /** Adds a row with the values of the columns, as the server prints them. */
  add(row: TextRow): void;
  /** Writes everything that is not written yet. */
  end(): void;
}

/** The facts about an export that each Parquet file has in its metadata; null for one that is not known. */
export type Stamp = Readonly<Record<string, string | null>>;

import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { EncoderOptions, ExportFormat } from "./formats.ts";
import type { ExportType } from "./plan-export.ts";

/** A row group is written when it has this many rows or characters, and is in memory until then. */
const GROUP_ROWS = 50_000;
const GROUP_CHARS = 8 * 1024 * 1024;

/** Parquet with Snappy compression. Every column may have NULLs, whatever the rows are, so that all exports have one schema. */
export const parquetFormat: ExportFormat = {
  extension: "parquet",
  isSafe: false,
  times: "epoch",
  createEncoder(options) {
    const { columns } = options;
    const encodings = columns.map((column) => ENCODINGS[column.type]);
    const file = createParquetWriter(options);
    let group: unknown[][] = columns.map(() => []);
    let chars = 0;
    const writeGroup = () => {
      const rows = group[0]?.length ?? 0;
      if (rows === 0) return;
      const columnData = columns.map(({ name, type }, at) => ({
        name,
        data: group[at] ?? [],
        // The library keeps the least and the greatest value of each row group until the end, which would add up for texts.
        statistics: ENCODINGS[type] !== TEXT,
      }));
      // It returns no promise, because `flush` returns none.
      void file.write({ columnData, rowGroupSize: rows });
      group = columns.map(() => []);
      chars = 0;
    };
    return {
      add(row) {
        for (const [at, value] of row.entries()) {
          group[at]?.push(value === null ? null : encodings[at]?.encode(value));
          chars += value?.length ?? 0;
        }
        if ((group[0]?.length ?? 0) >= GROUP_ROWS || chars >= GROUP_CHARS) writeGroup();
      },
      end() {
        writeGroup();
        void file.finish();
      },
    };
  },
};

type Element = ConstructorParameters<typeof ParquetWriter>[0]["schema"][number];

interface Encoding {
  /** The type in the file. */
  readonly element: Pick<Element, "type" | "converted_type" | "logical_type">;
  readonly encode: (text: string) => unknown;
}

const TEXT: Encoding = {
  element: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
  encode: (text) => text,
};

const ENCODINGS: Readonly<Record<ExportType, Encoding>> = {
  text: TEXT,
  // Not the JSON type, which Polars reads as bytes. DuckDB's JSON operators accept a text.
  jsonb: TEXT,
  bigint: { element: { type: "INT64" }, encode: BigInt },
  integer: { element: { type: "INT32" }, encode: Number },
  boolean: { element: { type: "BOOLEAN" }, encode: (text) => text === "true" },
  timestamptz: {
    element: {
      type: "INT64",
      converted_type: "TIMESTAMP_MICROS",
      logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
    },
    encode: BigInt,
  },
  date: { element: { type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } }, encode: Number },
  "double precision": { element: { type: "DOUBLE" }, encode: Number },
  numeric: { element: { type: "DOUBLE" }, encode: Number },
};

function createParquetWriter({ columns, stamp, version, write }: EncoderOptions): ParquetWriter {
  const writer = new ByteWriter();
  // The library calls it after each row group.
  const flush = () => {
    write(writer.getBytes());
    writer.index = 0;
  };
  return new ParquetWriter({
    writer: Object.assign(writer, { flush, finish: flush }),
    schema: [
      { name: "root", num_children: columns.length },
      ...columns.map(({ name, type }): Element => ({ name, repetition_type: "OPTIONAL", ...ENCODINGS[type].element })),
    ],
    kvMetadata: Object.entries(stamp).flatMap(([key, value]) => (value === null ? [] : [{ key, value }])),
    createdBy: `simcat version ${version}`,
  });
}

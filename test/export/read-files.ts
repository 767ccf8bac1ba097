import { createReadStream, readFileSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import type { Manifest } from "../../src/export/export-views.ts";

/** A column as the manifest describes it. */
export type FileColumn = Manifest["views"][number]["columns"][number];

type Cell = string | null;

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;

let connection: Promise<DuckDBConnection> | undefined;

/** Runs a query in DuckDB, which reads Parquet files without any code of simcat or its library. */
export async function duckdb(sql: string): Promise<unknown[][]> {
  connection ??= DuckDBInstance.create(":memory:").then((instance) => instance.connect());
  return (await (await connection).runAndReadAll(sql)).getRows();
}

/** The cells of a Parquet file as texts. DuckDB returns them in hexadecimal, because its client strips byte order marks. */
async function parquetRows(path: string, columns: readonly FileColumn[]): Promise<Cell[][]> {
  const items = columns.map(({ name, type }) => {
    const text = type === "timestamptz" ? `make_timestamp(epoch_us(${quote(name)}))::VARCHAR || '+00'` : quote(name);
    return `hex(encode((${text})::VARCHAR))`;
  });
  const rows = (await duckdb(`SELECT ${items.join(", ")} FROM '${path}'`)) as Cell[][];
  return rows.map((row) => row.map((cell) => (cell === null ? null : Buffer.from(cell, "hex").toString("utf8"))));
}

/** Loads a file into the temporary table `loaded`, in which every column is a text. Postgres parses CSV and JSON. */
export async function loadFile(client: pg.Client, path: string, columns: readonly FileColumn[]): Promise<void> {
  await client.query("DROP TABLE IF EXISTS loaded");
  await client.query(`CREATE TEMP TABLE loaded (${columns.map(({ name }) => `${quote(name)} text`).join(", ")})`);
  if (path.endsWith(".csv")) {
    await pipeline(createReadStream(path), client.query(copyFrom("COPY loaded FROM STDIN (FORMAT csv, HEADER)")));
    return;
  }
  if (path.endsWith(".jsonl")) {
    const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
    const items = columns.map((_, at) => `line ->> $${at + 2}`);
    await client.query(`INSERT INTO loaded SELECT ${items.join(", ")} FROM unnest($1::json[]) AS line`, [
      lines,
      ...columns.map(({ name }) => name),
    ]);
    return;
  }
  const rows = await parquetRows(path, columns);
  const arrays = columns.map((_, at) => rows.map((row) => row[at] ?? null));
  const parameters = columns.map((_, at) => `$${at + 1}::text[]`);
  await client.query(`INSERT INTO loaded SELECT * FROM unnest(${parameters.join(", ")})`, arrays);
}

/** A cell of `loaded` as a value of its type; jsonb stays the text that it was. */
export function loadedValue({ name, type }: FileColumn, isParquet: boolean): string {
  if (type === "jsonb") return quote(name);
  // Parquet has no exact type for it.
  return `${quote(name)}::${type === "numeric" && isParquet ? "double precision" : type}`;
}

import { getTableColumns, type Table } from "drizzle-orm";
import type { LibraryKey, Scenario, TextParsers } from "../../model.ts";
import { type ContentField, type LibraryAnswers, libraryFields, scenarioFields } from "../content-fields.ts";
import { libraries, scenarios } from "../schema.ts";
import type { StatementParameters } from "../statement.ts";

type Values<T> = readonly (T | null | undefined)[];

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;

/**
 * Returns a function that encodes arrays in Postgres' binary format; `pg` sends a Buffer as it is. In text format each element is
 * quoted here and unquoted by the server, which took a fourth of the time to store scenarios (501 instead of 382 ms for 50,000
 * rows). `type` is the object id of the elements, the same in every Postgres. `write` returns the index after the element.
 */
const arrayOf =
  <T>(type: number, bytesOf: (value: T) => number, write: (buffer: Buffer, value: T, index: number) => number) =>
  (values: Values<T>): Buffer => {
    let bytes = HEADER_BYTES + values.length * LENGTH_BYTES;
    // Exact, because an estimate of three bytes per UTF-16 unit made most of the garbage of a run.
    for (const value of values) if (value !== null && value !== undefined) bytes += bytesOf(value);
    const buffer = Buffer.allocUnsafe(bytes);
    buffer.writeInt32BE(values.length > 0 ? 1 : 0, 0); // dimensions
    buffer.writeInt32BE(1, 4); // may hold NULLs
    buffer.writeInt32BE(type, 8);
    if (values.length === 0) return buffer.subarray(0, 12);
    buffer.writeInt32BE(values.length, 12);
    buffer.writeInt32BE(1, 16); // lower bound
    let index = HEADER_BYTES;
    for (const value of values) {
      const start = index + LENGTH_BYTES;
      const isNull = value === null || value === undefined;
      const end = isNull ? start : write(buffer, value, start);
      buffer.writeInt32BE(isNull ? -1 : end - start, index);
      index = end;
    }
    return buffer;
  };

/** The epoch of Postgres, 2000-01-01, in microseconds since the Unix epoch. */
const POSTGRES_EPOCH = BigInt(Date.UTC(2000)) * 1000n;

export const textArray = arrayOf<string>(
  25,
  (value) => Buffer.byteLength(value),
  (buffer, value, index) => index + buffer.write(value, index),
);
/** Encodes JSON source texts. Each element begins with the version of the format, 1. */
export const jsonbArray = arrayOf<string>(
  3802,
  (value) => 1 + Buffer.byteLength(value),
  (buffer, value, index) => {
    buffer[index] = 1;
    return index + 1 + buffer.write(value, index + 1);
  },
);
const eightBytes = () => 8;
export const int8Array = arrayOf<number | bigint>(20, eightBytes, (buffer, value, index) =>
  buffer.writeBigInt64BE(BigInt(value), index),
);
export const float8Array = arrayOf<number>(701, eightBytes, (buffer, value, index) =>
  buffer.writeDoubleBE(value, index),
);
/** Encodes microseconds since the Unix epoch. */
export const timestamptzArray = arrayOf<bigint>(1184, eightBytes, (buffer, value, index) =>
  buffer.writeBigInt64BE(value - POSTGRES_EPOCH, index),
);
export const int4Array = arrayOf<number>(
  23,
  () => 4,
  (buffer, value, index) => buffer.writeInt32BE(value, index),
);
export const boolArray = arrayOf<boolean>(
  16,
  () => 1,
  (buffer, value, index) => buffer.writeUInt8(value ? 1 : 0, index),
);

/** A declared field with the name and the type of its column. */
export interface StoredColumn<Item> extends ContentField<Item> {
  readonly name: string;
  readonly type: ArrayType;
}

interface ArrayType {
  /** The element type in a cast. */
  readonly name: string;
  readonly toArray: (values: readonly never[]) => Buffer;
}

/** Element types of the arrays in which rows are sent, by the type of the column. */
const ARRAY_TYPES: Readonly<Record<string, ArrayType>> = {
  text: { name: "text", toArray: textArray },
  'text COLLATE "C"': { name: "text", toArray: textArray },
  bigint: { name: "int8", toArray: int8Array },
  integer: { name: "int4", toArray: int4Array },
  boolean: { name: "bool", toArray: boolArray },
  jsonb: { name: "jsonb", toArray: jsonbArray },
  "timestamp (6) with time zone": { name: "timestamptz", toArray: timestamptzArray },
};

function toStoredColumns<Item>(
  fields: Readonly<Record<string, ContentField<Item>>>,
  table: Table,
): StoredColumn<Item>[] {
  const columns = getTableColumns(table);
  return Object.entries(fields).map(([key, field]) => {
    const column = columns[key];
    const type = ARRAY_TYPES[column?.getSQLType() ?? ""];
    if (column === undefined || type === undefined) throw new TypeError(`no array type for the field ${key}`);
    return { ...field, name: column.name, type };
  });
}

export const libraryColumns = toStoredColumns<LibraryAnswers>(libraryFields, libraries);
export const scenarioColumns = toStoredColumns<Scenario>(scenarioFields, scenarios);

export const namesOf = (columns: readonly Pick<StoredColumn<never>, "name">[]): string[] =>
  columns.map(({ name }) => name);

/** All columns of a table, those that simcat fills itself included. */
export const allNamesOf = (table: Table): string[] => namesOf(Object.values(getTableColumns(table)));

export const versionedNames = (columns: readonly StoredColumn<never>[]) =>
  namesOf(columns.filter(({ change }) => change === "version"));
export const inPlaceNames = (columns: readonly StoredColumn<never>[]) =>
  namesOf(columns.filter(({ change }) => change === "in place"));

/** `unnest` of one array per column: `unnest($owner::text[], $library_name::text[])`. */
export const unnest = (columns: readonly { readonly name: string; readonly type: { readonly name: string } }[]) =>
  `unnest(${columns.map(({ name, type }) => `$${name}::${type.name}[]`).join(", ")})`;

/** The arrays that `unnest` names: one element for each item. */
export function toArrays<Item>(
  columns: readonly StoredColumn<Item>[],
  items: readonly Item[],
  parsers: TextParsers,
): StatementParameters {
  return Object.fromEntries(
    columns.map(({ name, type, value }) => [name, type.toArray(items.map((item) => value(item, parsers)) as never[])]),
  );
}

/** The parameters `$owner` and `$library_name` of statements about many libraries. */
export function keyArrays(keys: readonly LibraryKey[]): StatementParameters {
  return { owner: textArray(keys.map(({ owner }) => owner)), library_name: textArray(keys.map(({ name }) => name)) };
}

/** Joins the rows of a statement that answers by position with the items that it was about. */
export function byPosition<Item, Row>(items: readonly Item[], rows: readonly Row[]): (readonly [Item, Row])[] {
  return items.map((item, index) => {
    const row = rows[index];
    if (row === undefined) throw new RangeError(`${rows.length} rows for ${items.length} items`);
    return [item, row];
  });
}

/** The rest of an UPDATE … FROM or DELETE … USING about these libraries, where `row` is a row of the changed table. */
export const ofKeys = (row: string) => `unnest($owner::text[], $library_name::text[]) AS i(owner, library_name)
WHERE (${row}.owner, ${row}.library_name) = (i.owner, i.library_name)`;

/** The stored fields with their types, in a stable order: content must be stored again if this list changes. */
export const COLUMN_SIGNATURE: readonly string[] = [
  ...libraryColumns.map(({ name, type }) => `libraries.${name} ${type.name}`),
  ...scenarioColumns.map(({ name, type }) => `scenarios.${name} ${type.name}`),
].sort();

/** Column list with the row's name before each column: `i.owner, i.library_name`. */
export const prefixed = (row: string, columns: readonly string[]) =>
  columns.map((column) => `${row}.${column}`).join(", ");

/** SET list for ON CONFLICT DO UPDATE: each column takes its value from `excluded`. */
export const setExcluded = (columns: readonly string[]) =>
  columns.map((column) => `${column} = excluded.${column}`).join(", ");

/** Start of the version that follows this row. It is later than the row's own start, even if the clock stops or is set back. */
export const nextVersionStart = (row: string) => `greatest(now(), ${row}.changed_at + interval '1 microsecond')`;

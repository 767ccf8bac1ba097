import { getTableColumns, type Table } from "drizzle-orm";
import type { LibraryKey, Scenario } from "../../model.ts";
import {
  type ContentField,
  type LibraryAnswers,
  libraryFields,
  scenarioFields,
  type TextParsers,
} from "../content-fields.ts";
import { libraries, scenarios } from "../schema.ts";
import type { StatementParameters } from "../statement.ts";

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

/**
 * Encodes arrays in Postgres' binary format; `pg` sends a Buffer as it is. In text format each element is quoted here and
 * unquoted by the server, which took a fourth of the time to store scenarios (501 instead of 382 ms for 50,000 rows).
 */
type Values<T> = readonly (T | null | undefined)[];
/** Writes one element at `index` and returns the index after it. */
type WriteElement<T> = (buffer: Buffer, value: T, index: number) => number;

/** Object ids of the element types. They are the same in every Postgres. */
const OID = { bool: 16, int8: 20, int4: 23, text: 25, float8: 701, timestamptz: 1184, jsonb: 3802 } as const;
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;

function toArray<T>(type: number, values: Values<T>, bytes: number, write: WriteElement<T>): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + values.length * LENGTH_BYTES + bytes);
  buffer.writeInt32BE(values.length > 0 ? 1 : 0, 0); // dimensions
  buffer.writeInt32BE(1, 4); // may hold NULLs
  buffer.writeInt32BE(type, 8);
  buffer.writeInt32BE(values.length, 12);
  buffer.writeInt32BE(1, 16); // lower bound
  if (values.length === 0) return buffer.subarray(0, 12);
  let index = HEADER_BYTES;
  for (const value of values) {
    const start = index + LENGTH_BYTES;
    const isNull = value === null || value === undefined;
    const end = isNull ? start : write(buffer, value, start);
    buffer.writeInt32BE(isNull ? -1 : end - start, index);
    index = end;
  }
  return buffer.subarray(0, index);
}

/** Exact, because an estimate of three bytes per UTF-16 unit made most of the garbage of a run. */
function bytesOf(values: Values<string>): number {
  let sum = 0;
  for (const value of values) if (value) sum += Buffer.byteLength(value);
  return sum;
}

export function textArray(values: Values<string>): Buffer {
  return toArray(OID.text, values, bytesOf(values), (buffer, value, index) => index + buffer.write(value, index));
}

/** Encodes JSON source texts. */
export function jsonbArray(values: Values<string>): Buffer {
  // Each element begins with the version of the format, 1.
  return toArray(OID.jsonb, values, bytesOf(values) + values.length, (buffer, value, index) => {
    buffer[index] = 1;
    return index + 1 + buffer.write(value, index + 1);
  });
}

export function int8Array(values: Values<number | bigint>): Buffer {
  return toArray(OID.int8, values, values.length * 8, (buffer, value, index) =>
    buffer.writeBigInt64BE(BigInt(value), index),
  );
}

export function int4Array(values: Values<number>): Buffer {
  return toArray(OID.int4, values, values.length * 4, (buffer, value, index) => buffer.writeInt32BE(value, index));
}

export function float8Array(values: Values<number>): Buffer {
  return toArray(OID.float8, values, values.length * 8, (buffer, value, index) => buffer.writeDoubleBE(value, index));
}

/** The epoch of Postgres, 2000-01-01, in microseconds since the Unix epoch. */
const POSTGRES_EPOCH = BigInt(Date.UTC(2000)) * 1000n;

/** Encodes microseconds since the Unix epoch. */
export function timestamptzArray(values: Values<bigint>): Buffer {
  return toArray(OID.timestamptz, values, values.length * 8, (buffer, value, index) =>
    buffer.writeBigInt64BE(value - POSTGRES_EPOCH, index),
  );
}

export function boolArray(values: Values<boolean>): Buffer {
  return toArray(OID.bool, values, values.length, (buffer, value, index) => buffer.writeUInt8(value ? 1 : 0, index));
}

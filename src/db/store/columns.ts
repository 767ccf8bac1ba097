import { getTableColumns, type Table } from "drizzle-orm";
import type { Scenario } from "../../model.ts";
import type { TextParsers } from "../../parse-values.ts";
import { type ContentField, type LibraryAnswers, libraryFields, scenarioFields } from "../content-fields.ts";
import { libraries, scenarios } from "../schema.ts";
import { boolArray, int8Array, jsonbArray, textArray, timestamptzArray } from "../statement.ts";

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
  boolean: { name: "bool", toArray: boolArray },
  jsonb: { name: "jsonb", toArray: jsonbArray },
  "timestamp (6) with time zone": { name: "timestamptz", toArray: timestamptzArray },
};

function toStoredColumns<Item>(fields: Readonly<Record<string, ContentField<Item>>>, table: Table) {
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

/** The names of columns whose changed values begin a version, or are written in place. */
export const namesBy = (wanted: "version" | "in place", columns: readonly StoredColumn<never>[]) =>
  namesOf(columns.filter(({ change }) => change === wanted));

/** `unnest` of one array per column: `unnest($owner::text[], $library_name::text[])`. */
export const unnest = (columns: readonly { readonly name: string; readonly type: { readonly name: string } }[]) =>
  `unnest(${columns.map(({ name, type }) => `$${name}::${type.name}[]`).join(", ")})`;

/** The arrays that `unnest` names: one element for each item. */
export function toArrays<Item>(columns: readonly StoredColumn<Item>[], items: readonly Item[], parsers: TextParsers) {
  return Object.fromEntries(
    columns.map(({ name, type, value }) => [name, type.toArray(items.map((item) => value(item, parsers)) as never[])]),
  );
}

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

/** Copies rows to the history of a table with these columns, ended by this run. `row` is one of the rows of `from`. */
export const supersede = (kind: "library" | "scenario", columns: readonly string[], row: string, from: string) => `
  INSERT INTO simcat.${kind}_history (${columns.join(", ")}, valid_from, valid_to, superseded_by)
  SELECT ${prefixed(row, columns)}, ${row}.changed_at, ${nextVersionStart(row)}, $run_id::int8 FROM ${from}`;

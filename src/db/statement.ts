import type { LibraryKey } from "../model.ts";

/** Values by parameter name. */
export type StatementParameters = Readonly<Record<string, unknown>>;

/** A query as `pg` accepts it. */
export type BoundStatement = ReturnType<ReturnType<typeof statement>>;

/**
 * SQL with named parameters, such as `$run_id`. The returned function binds values to them; it ignores values that the
 * statement does not name, and throws a TypeError for a parameter without a value. Null is a value.
 */
export function statement(sql: string) {
  const names: string[] = [];
  const text = sql.replaceAll(/\$([a-z]\w*)/g, (_, name: string) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return (parameters: StatementParameters) => {
    const missing = names.find((name) => parameters[name] === undefined);
    if (missing !== undefined) throw new TypeError(`the statement's parameter $${missing} has no value`);
    return { text, values: names.map((name) => parameters[name]) };
  };
}

/** The parameters `$owner` and `$library_name` of statements about many libraries. */
export function keyArrays(keys: readonly LibraryKey[]): StatementParameters {
  return { owner: textArray(keys.map(({ owner }) => owner)), library_name: textArray(keys.map(({ name }) => name)) };
}

/** Pairs the items of a statement with its rows: it returns one for each, in their order. */
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

const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;

/**
 * Returns a function that encodes arrays in Postgres' binary format; `pg` sends a Buffer as it is. In text format each element is
 * quoted here and unquoted by the server, which is slower. `type` is the object id of the elements, the same in every Postgres.
 * `write` returns the index after the element.
 */
const arrayOf =
  <T>(type: number, bytesOf: (value: T) => number, write: (buffer: Buffer, value: T, index: number) => number) =>
  (values: readonly (T | null | undefined)[]): Buffer => {
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
export const boolArray = arrayOf<boolean>(
  16,
  () => 1,
  (buffer, value, index) => buffer.writeUInt8(value ? 1 : 0, index),
);

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

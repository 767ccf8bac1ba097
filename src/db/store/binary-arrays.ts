/**
 * Arrays in Postgres' binary format, in which `pg` sends a Buffer. As text their elements are quoted here and unquoted
 * there, which was a fourth of the time that storing scenarios takes on both sides.
 */
type Values<T> = readonly (T | null | undefined)[];
/** Writes one element, and answers the index behind it. */
type Write<T> = (buffer: Buffer, value: T, at: number) => number;

/** Object ids of the element types, the same in every Postgres. */
const OID = { bool: 16, int8: 20, int4: 23, text: 25, float8: 701, timestamptz: 1184, jsonb: 3802 } as const;
const HEAD = 20;
const LENGTH = 4;

function toArray<T>(type: number, values: Values<T>, bytes: number, write: Write<T>): Buffer {
  const buffer = Buffer.allocUnsafe(HEAD + values.length * LENGTH + bytes);
  buffer.writeInt32BE(values.length > 0 ? 1 : 0, 0); // dimensions
  buffer.writeInt32BE(1, 4); // may hold NULLs
  buffer.writeInt32BE(type, 8);
  buffer.writeInt32BE(values.length, 12);
  buffer.writeInt32BE(1, 16); // lower bound
  if (values.length === 0) return buffer.subarray(0, 12);
  let at = HEAD;
  for (const value of values) {
    const start = at + LENGTH;
    const isNull = value === null || value === undefined;
    const end = isNull ? start : write(buffer, value, start);
    buffer.writeInt32BE(isNull ? -1 : end - start, at);
    at = end;
  }
  return buffer.subarray(0, at);
}

/** Counted, for room to spare, three bytes a unit of UTF-16, was most of what the collector had to collect. */
function bytesOf(values: Values<string>): number {
  let sum = 0;
  for (const value of values) if (value) sum += Buffer.byteLength(value);
  return sum;
}

export function textArray(values: Values<string>): Buffer {
  return toArray(OID.text, values, bytesOf(values), (buffer, value, at) => at + buffer.write(value, at));
}

/** Of JSON source texts. */
export function jsonbArray(values: Values<string>): Buffer {
  // The format's version, 1, stands before each.
  return toArray(OID.jsonb, values, bytesOf(values) + values.length, (buffer, value, at) => {
    buffer[at] = 1;
    return at + 1 + buffer.write(value, at + 1);
  });
}

export function int8Array(values: Values<number | bigint>): Buffer {
  return toArray(OID.int8, values, values.length * 8, (buffer, value, at) => buffer.writeBigInt64BE(BigInt(value), at));
}

export function int4Array(values: Values<number>): Buffer {
  return toArray(OID.int4, values, values.length * 4, (buffer, value, at) => buffer.writeInt32BE(value, at));
}

export function float8Array(values: Values<number>): Buffer {
  return toArray(OID.float8, values, values.length * 8, (buffer, value, at) => buffer.writeDoubleBE(value, at));
}

/** 2000-01-01, from which Postgres counts, in microseconds since the epoch of Unix. */
const POSTGRES_EPOCH = BigInt(Date.UTC(2000)) * 1000n;

/** Of microseconds since the epoch of Unix. */
export function timestamptzArray(values: Values<bigint>): Buffer {
  return toArray(OID.timestamptz, values, values.length * 8, (buffer, value, at) =>
    buffer.writeBigInt64BE(value - POSTGRES_EPOCH, at),
  );
}

export function boolArray(values: Values<boolean>): Buffer {
  return toArray(OID.bool, values, values.length, (buffer, value, at) => buffer.writeUInt8(value ? 1 : 0, at));
}

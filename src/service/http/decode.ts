import { pipeline, Readable } from "node:stream";
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzipSync,
  inflateRawSync,
  inflateSync,
} from "node:zlib";
import { formatSize } from "../../units.ts";
import type { Printable } from "../redact.ts";
import { AttemptFailure } from "./attempt-failure.ts";

export type Encoding = "gzip" | "deflate" | "br";

const ENCODINGS = new Map<string, Encoding>([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "br"],
]);
/** Each encoding multiplies the cost of a decompression bomb. */
const MAX_ENCODINGS = 3;
const CHUNK_BYTES = 64 * 1024;

/**
 * The encodings of a `Content-Encoding` header, in the order in which to undo them.
 * @throws AttemptFailure
 */
export function parseEncodings(value: string | null, printable: Printable): Encoding[] {
  if (value === null) return [];
  const names = value.split(",").map((name) => name.trim().toLowerCase());
  const applied = names.filter((name) => name !== "" && name !== "identity");
  const encodings = applied.map((name) => {
    const encoding = ENCODINGS.get(name);
    if (encoding !== undefined) return encoding;
    throw new AttemptFailure("untrusted", "answered in an encoding that simcat does not know", {
      detail: printable(name, 50),
    });
  });
  if (encodings.length > MAX_ENCODINGS) {
    throw new AttemptFailure("untrusted", `answered in ${encodings.length} encodings, one inside the other`);
  }
  return encodings.reverse();
}

/** "deflate" means a zlib stream, but some servers send raw deflate. The first byte shows which it is. */
function isZlib(firstByte: number | undefined): boolean {
  return firstByte !== undefined && (firstByte & 0x0f) === 8 && firstByte >> 4 <= 7;
}

function asFailure(error: unknown, encoding: Encoding, maxBytes: number): unknown {
  if (error instanceof AttemptFailure || !(error instanceof Error) || !("code" in error)) return error;
  const code = String(error.code);
  if (code === "ERR_BUFFER_TOO_LARGE") return tooLarge(maxBytes);
  if (code === "Z_BUF_ERROR") {
    return new AttemptFailure("truncated", "was cut short", { detail: `its ${encoding} has no end` });
  }
  if (!/^Z_|^ERR_.*BROTLI|^ERR__ERROR_FORMAT/.test(code)) return error;
  const summary = `answered with bytes that are not ${encoding}, as its Content-Encoding claims`;
  return new AttemptFailure("untrusted", summary);
}

export function tooLarge(maxBytes: number): AttemptFailure {
  const detail = `${formatSize(maxBytes)}, SIMCAT_MAX_BODY`;
  return new AttemptFailure("too_large", "answered with more than is accepted", { detail });
}

/**
 * Undoes one encoding of a complete body. It costs 8 µs, a stream 100 µs.
 * @throws AttemptFailure
 */
export function decodeWhole(bytes: Buffer, encoding: Encoding, maxBytes: number): Buffer {
  if (bytes.length === 0) return bytes;
  // One byte more than allowed, because the reader of the response checks the limit.
  const options = { maxOutputLength: maxBytes + 1 };
  try {
    if (encoding === "br") return brotliDecompressSync(bytes, options);
    if (encoding === "gzip") return gunzipSync(bytes, options);
    return isZlib(bytes[0]) ? inflateSync(bytes, options) : inflateRawSync(bytes, options);
  } catch (error) {
    throw asFailure(error, encoding, maxBytes);
  }
}

function createDecoder(encoding: Encoding, firstByte: number | undefined) {
  const options = { chunkSize: CHUNK_BYTES };
  if (encoding === "br") return createBrotliDecompress(options);
  if (encoding === "gzip") return createGunzip(options);
  return isZlib(firstByte) ? createInflate(options) : createInflateRaw(options);
}

/**
 * Undoes one encoding of a body while it arrives.
 * @throws AttemptFailure
 */
export async function* decodeStream(
  source: AsyncGenerator<Buffer>,
  encoding: Encoding,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  const first = await source.next();
  if (first.done) return;
  const beginning = first.value;
  async function* all() {
    yield beginning;
    yield* source;
  }
  const decoder = createDecoder(encoding, beginning[0]);
  // The decoder below throws the errors of both sides.
  pipeline(Readable.from(all()), decoder, () => {});
  try {
    for await (const chunk of decoder) yield chunk;
  } catch (error) {
    throw asFailure(error, encoding, maxBytes);
  }
}

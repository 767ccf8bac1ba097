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
import { AttemptFailure } from "./attempt-failure.ts";
import type { Printable } from "./printable.ts";

export type Encoding = "gzip" | "deflate" | "br";

const NAMES = new Map<string, Encoding>([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "br"],
]);
/** More than anybody has use for: each one multiplies what a bomb costs us. */
const MOST = 3;
const CHUNK = 64 * 1024;

/** The encodings that a `Content-Encoding` names, in the order in which to undo them. */
export function readEncodings(header: string | null, printable: Printable): Encoding[] {
  if (header === null) return [];
  const names = header.split(",").map((name) => name.trim().toLowerCase());
  const applied = names.filter((name) => name !== "" && name !== "identity");
  const encodings = applied.map((name) => {
    const encoding = NAMES.get(name);
    if (encoding !== undefined) return encoding;
    throw new AttemptFailure("untrusted", "answered in an encoding that simcat does not know", {
      detail: printable(name, 50),
    });
  });
  if (encodings.length > MOST) {
    throw new AttemptFailure("untrusted", `answered in ${encodings.length} encodings, one inside the other`);
  }
  return encodings.reverse();
}

/** "deflate" is a zlib stream by the standard, and bare deflate from some servers: the first byte tells. */
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
  const verb = `answered with bytes that are not ${encoding}, as its Content-Encoding claims`;
  return new AttemptFailure("untrusted", verb);
}

export function tooLarge(maxBytes: number): AttemptFailure {
  const detail = `${formatSize(maxBytes)}, SIMCAT_MAX_BODY`;
  return new AttemptFailure("too_large", "answered with more than is accepted", { detail });
}

/** Undoes one encoding of a body that is here as a whole: 8 µs where a stream takes 100. */
export function decodeWhole(bytes: Buffer, encoding: Encoding, maxBytes: number): Buffer {
  if (bytes.length === 0) return bytes;
  // One byte more than allowed, so that the cap is judged in one place, by the count.
  const options = { maxOutputLength: maxBytes + 1 };
  try {
    if (encoding === "br") return brotliDecompressSync(bytes, options);
    if (encoding === "gzip") return gunzipSync(bytes, options);
    return isZlib(bytes[0]) ? inflateSync(bytes, options) : inflateRawSync(bytes, options);
  } catch (error) {
    throw asFailure(error, encoding, maxBytes);
  }
}

function openDecoder(encoding: Encoding, firstByte: number | undefined) {
  const options = { chunkSize: CHUNK };
  if (encoding === "br") return createBrotliDecompress(options);
  if (encoding === "gzip") return createGunzip(options);
  return isZlib(firstByte) ? createInflate(options) : createInflateRaw(options);
}

/** Undoes one encoding of a body while it comes. */
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
  const decoder = openDecoder(encoding, beginning[0]);
  // What goes wrong on either side comes out of the decoder below.
  pipeline(Readable.from(all()), decoder, () => {});
  try {
    for await (const chunk of decoder) yield chunk;
  } catch (error) {
    throw asFailure(error, encoding, maxBytes);
  }
}

import type { IncomingHttpHeaders } from "node:http";
import { pipeline, Readable } from "node:stream";
import { createGunzip, gunzipSync } from "node:zlib";
import { formatSize } from "../../units.ts";
import type { Quote } from "../redact.ts";
import { AttemptFailure, type ResponseHead } from "./attempt-failure.ts";
import { header } from "./headers.ts";
import type { InFlightRequest } from "./http-request.ts";

const BOM = Buffer.from("\ufeff");

/** A response with status 200. Read it to its end, once, and discard it in any case. */
export class HttpResponse {
  readonly headers: IncomingHttpHeaders;
  readonly sentAt: number;
  readonly #request: InFlightRequest;
  /** Null if the body is not encoded. */
  readonly #decoded: AsyncGenerator<Buffer> | null;
  readonly #maxBodyBytes: number;
  #readBytes = 0;

  /** @throws AttemptFailure for an encoding or length that is not accepted */
  constructor(head: ResponseHead, request: InFlightRequest, maxBodyBytes: number, quote: Quote) {
    this.headers = head.headers;
    this.sentAt = head.sentAt;
    this.#request = request;
    this.#maxBodyBytes = maxBodyBytes;
    const layers = countGzipLayers(header(head.headers, "content-encoding"), quote);
    const isPlain = layers === 0;
    if (isPlain && Number(header(head.headers, "content-length")) > maxBodyBytes) throw tooLarge(maxBodyBytes);
    this.#decoded = isPlain ? null : decodeBody(request, layers, maxBodyBytes);
  }

  /**
   * The next decoded bytes, without a byte order mark; null after the last.
   * @throws AttemptFailure
   */
  async read(): Promise<Buffer | null> {
    const bytes = this.#decoded === null ? await this.#request.read() : ((await this.#decoded.next()).value ?? null);
    if (bytes === null) return null;
    // The first batch is the whole body, or far longer than the mark.
    const isMarked = this.#readBytes === 0 && bytes.subarray(0, BOM.length).equals(BOM);
    this.#readBytes += bytes.length;
    if (this.#readBytes > this.#maxBodyBytes) throw tooLarge(this.#maxBodyBytes);
    return isMarked ? bytes.subarray(BOM.length) : bytes;
  }

  /** Number of decoded bytes so far. */
  bytes(): number {
    return this.#readBytes;
  }

  /** Frees the decoders and cancels the request, unless it is complete. */
  discard(): void {
    this.#request.discard();
    this.#decoded?.return(null).catch(() => {});
  }
}

async function* decodeBody(request: InFlightRequest, layers: number, maxBytes: number): AsyncGenerator<Buffer> {
  const first = await request.read();
  if (first === null) return;
  const whole = request.isFullyRead() ? gunzipWhole(first, layers, maxBytes) : null;
  if (whole !== null) {
    yield whole;
    return;
  }
  const all = async function* () {
    yield first;
    for (let bytes = await request.read(); bytes !== null; bytes = await request.read()) yield bytes;
  };
  let decoded: AsyncGenerator<Buffer> = all();
  for (let layer = 0; layer < layers; layer++) decoded = gunzipStream(decoded);
  yield* decoded;
}

/**
 * The first words of an error's body, for the message; empty if it has none or they cannot be read in `maxMs`. A longer
 * body costs its connection.
 */
export async function quoteBody(
  { headers }: ResponseHead,
  request: InFlightRequest,
  maxMs: number,
  quote: Quote,
): Promise<string> {
  request.shortenDeadline(maxMs);
  try {
    const body = (await request.read()) ?? Buffer.alloc(0);
    const decoded = gunzipWhole(body, countGzipLayers(header(headers, "content-encoding"), quote), Infinity);
    return decoded === null ? "" : quote(decoded.toString("utf8"));
  } catch (error) {
    if (error instanceof AttemptFailure) return "";
    throw error;
  }
}

/** Each layer multiplies the cost of a decompression bomb. */
const MAX_LAYERS = 3;
const CHUNK_BYTES = 64 * 1024;
/** A longer body is decoded as a stream, so that its limit is checked before it is in memory. */
const MAX_WHOLE_BYTES = 1 << 20;

/**
 * How many times a body with this `Content-Encoding` was compressed with gzip, the only encoding that simcat asks for.
 * @throws AttemptFailure
 */
function countGzipLayers(value: string | null, quote: Quote): number {
  const names = (value ?? "").split(",").map((name) => name.trim().toLowerCase());
  const applied = names.filter((name) => name !== "" && name !== "identity");
  const unknown = applied.find((name) => name !== "gzip" && name !== "x-gzip");
  if (unknown !== undefined) {
    throw new AttemptFailure("untrusted", "answered in an encoding that simcat does not know", {
      detail: quote(unknown, 50),
    });
  }
  if (applied.length > MAX_LAYERS) {
    throw new AttemptFailure("untrusted", `answered in ${applied.length} encodings, one inside the other`);
  }
  return applied.length;
}

function asBodyFailure(error: unknown): unknown {
  if (error instanceof AttemptFailure || !(error instanceof Error) || !("code" in error)) return error;
  const code = String(error.code);
  if (code === "Z_BUF_ERROR") {
    return new AttemptFailure("truncated", "was cut short", { detail: "its gzip has no end" });
  }
  if (!code.startsWith("Z_")) return error;
  return new AttemptFailure("untrusted", "answered with bytes that are not gzip, as its Content-Encoding claims");
}

function tooLarge(maxBytes: number): AttemptFailure {
  const detail = `${formatSize(maxBytes)}, SIMCAT_MAX_BODY`;
  return new AttemptFailure("too_large", "answered with more than is accepted", { detail });
}

/**
 * Decompresses a complete body; null if it is longer than MAX_WHOLE_BYTES. It costs 8 µs, a stream 100 µs.
 * @throws AttemptFailure
 */
function gunzipWhole(bytes: Buffer, layers: number, maxBytes: number): Buffer | null {
  let decoded = bytes;
  try {
    for (let layer = 0; layer < layers && decoded.length > 0; layer++) {
      decoded = gunzipSync(decoded, { maxOutputLength: MAX_WHOLE_BYTES });
    }
    return decoded;
  } catch (error) {
    const isLong = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    if (!isLong) throw asBodyFailure(error);
    if (maxBytes <= MAX_WHOLE_BYTES) throw tooLarge(maxBytes);
    return null;
  }
}

/**
 * Decompresses a body while it arrives.
 * @throws AttemptFailure
 */
async function* gunzipStream(source: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const first = await source.next();
  if (first.done) return;
  async function* all() {
    yield first.value;
    yield* source;
  }
  const decoder = createGunzip({ chunkSize: CHUNK_BYTES });
  // The decoder below throws the errors of both sides.
  pipeline(Readable.from(all()), decoder, () => {});
  try {
    for await (const chunk of decoder) yield chunk;
  } catch (error) {
    throw asBodyFailure(error);
  }
}

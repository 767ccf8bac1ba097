import type { IncomingHttpHeaders } from "node:http";
import { pipeline, Readable } from "node:stream";
import { createGunzip, gunzipSync } from "node:zlib";
import { hasErrorCode } from "../../errors.ts";
import { DAY_MS, formatSize } from "../../units.ts";
import type { ByteSource } from "../wire/json-array.ts";
import { AttemptFailure, type Quote, type ResponseHead } from "./attempt-failure.ts";

/** No cache keeps a response for longer, and no longer wait is believed. */
const YEAR_MS = 365 * DAY_MS;

/** A header's value; repeated ones are joined as RFC 9110 allows. Null if it is absent. */
export function header(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  if (value === undefined) return null;
  return Array.isArray(value) ? value.join(", ") : value;
}

/**
 * How long a cache has held the response, in milliseconds: 0 without `Age`, the longest of several, infinite (unknown) if one is
 * malformed or over a year.
 */
export function cachedMs(headers: IncomingHttpHeaders): number {
  const value = header(headers, "age");
  if (value === null) return 0;
  const ages = value.split(",").map((age) => age.trim());
  if (!ages.every((age) => /^\d+(\.\d*)?$/.test(age))) return Number.POSITIVE_INFINITY;
  const longest = Math.max(...ages.map(Number)) * 1000;
  return longest > YEAR_MS ? Number.POSITIVE_INFINITY : longest;
}

/**
 * The delay that a Retry-After header requests: whole seconds, or a date, which is compared with the response's own
 * `Date` if there is one, because the local clock may be wrong. At most a year: much longer ones end beyond the dates that
 * JavaScript has. Null if it is malformed, negative, zero or past.
 */
export function parseRetryAfter(value: string | null, date: string | null, now: number): number | null {
  if (value === null) return null;
  const seconds = /^\s*(\d+)\s*$/.exec(value)?.[1];
  const until = parseHttpDate(value);
  const from = (date === null ? null : parseHttpDate(date)) ?? now;
  const waitMs = seconds === undefined ? (until ?? from) - from : Number(seconds) * 1000;
  return waitMs > 0 ? Math.min(waitMs, YEAR_MS) : null;
}

const LINK_PARAMETER = /;\s*([^\s=;,"]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^\s;,]*))?/g;

/** True if a `Link` header has a next page: `<…>; rel="next"`, quoted or not, in any case, alone or among others. */
export function hasNextPage(link: string): boolean {
  if (link === "") return false;
  const parameters = link.replace(/<[^>]*>/g, "<>");
  return [...parameters.matchAll(LINK_PARAMETER)].some(([, name = "", value = ""]) => {
    const relations = value.replace(/["']/g, "").toLowerCase().split(/\s+/);
    return name.toLowerCase() === "rel" && relations.includes("next");
  });
}

/** Milliseconds since the epoch; null if the text is not of the form `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7). */
export function parseHttpDate(text: string): number | null {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toUTCString() === text ? at : null;
}

const BOM = Buffer.from("\ufeff");

/** The body of a response, as it is sent. */
interface EncodedBody extends ByteSource {
  /** True if the whole body has arrived and was read. */
  isFullyRead(): boolean;
}

/** A response with status 200. Read it to its end, once, and discard it in any case. */
export class HttpResponse {
  readonly sentAt: number;
  /** Its `Date` in milliseconds since the epoch; null if that is absent or malformed. */
  readonly date: number | null;
  /** How long a cache has held it, in milliseconds. */
  readonly cachedMs: number;
  /** The `Link` header, if it says that there is another page; otherwise null. */
  readonly nextPage: string | null;
  /** An empty body is complete, and not one that the end of the connection cut off. */
  readonly #mayBeEmpty: boolean;
  readonly #body: EncodedBody;
  /** Null if the body is not encoded. */
  readonly #decoded: AsyncGenerator<Buffer> | null;
  readonly #maxBodyBytes: number;
  /** Number of decoded bytes so far. */
  readBytes = 0;

  /** @throws AttemptFailure for an encoding or length that is not accepted */
  constructor({ headers, sentAt }: ResponseHead, body: EncodedBody, maxBodyBytes: number, quote: Quote) {
    const link = header(headers, "link") ?? "";
    this.sentAt = sentAt;
    this.date = parseHttpDate(header(headers, "date") ?? "");
    this.cachedMs = cachedMs(headers);
    this.nextPage = hasNextPage(link) ? link : null;
    this.#mayBeEmpty = headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
    this.#body = body;
    this.#maxBodyBytes = maxBodyBytes;
    const layers = countGzipLayers(header(headers, "content-encoding"), quote);
    if (layers === 0 && Number(header(headers, "content-length")) > maxBodyBytes) throw tooLarge(maxBodyBytes);
    this.#decoded = layers === 0 ? null : decodeBody(body, layers);
  }

  /**
   * The next decoded bytes, without a byte order mark; null after the last.
   * @throws AttemptFailure
   */
  async read(): Promise<Buffer | null> {
    const bytes = this.#decoded === null ? await this.#body.read() : ((await this.#decoded.next()).value ?? null);
    if (bytes === null) {
      if (this.readBytes > 0 || this.#mayBeEmpty) return null;
      throw new AttemptFailure("truncated", "was cut short", { detail: "an empty answer" });
    }
    // The first batch is the whole body, or far longer than the mark.
    const isMarked = this.readBytes === 0 && bytes.subarray(0, BOM.length).equals(BOM);
    this.readBytes += bytes.length;
    if (this.readBytes > this.#maxBodyBytes) throw tooLarge(this.#maxBodyBytes);
    return isMarked ? bytes.subarray(BOM.length) : bytes;
  }

  /** Frees the decoders. */
  discard(): void {
    this.#decoded?.return(null).catch(() => {});
  }
}

async function* decodeBody(body: EncodedBody, layers: number): AsyncGenerator<Buffer> {
  const first = await body.read();
  if (first === null) return;
  const whole = body.isFullyRead() ? gunzipWhole(first, layers) : null;
  if (whole !== null) {
    yield whole;
    return;
  }
  const all = async function* () {
    yield first;
    for (let bytes = await body.read(); bytes !== null; bytes = await body.read()) yield bytes;
  };
  let decoded: Readable = Readable.from(all());
  // The last decoder throws the errors of all.
  for (let layer = 0; layer < layers; layer++)
    decoded = pipeline(decoded, createGunzip({ chunkSize: 64 * 1024 }), () => {});
  try {
    for await (const chunk of decoded) yield chunk;
  } catch (error) {
    throw asBodyFailure(error);
  }
}

/** The first words of an error's body, for the message; empty if it has none or they cannot be read. */
export async function quoteBody({ headers }: ResponseHead, body: EncodedBody, quote: Quote): Promise<string> {
  try {
    const beginning = (await body.read()) ?? Buffer.alloc(0);
    const layers = countGzipLayers(header(headers, "content-encoding"), quote);
    return quote(gunzipWhole(beginning, layers)?.toString("utf8") ?? "");
  } catch (error) {
    if (error instanceof AttemptFailure) return "";
    throw error;
  }
}

/** Each layer multiplies the cost of a decompression bomb. */
const MAX_LAYERS = 3;
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
    const detail = quote(unknown);
    throw new AttemptFailure("untrusted", "answered in an encoding that simcat does not know", { detail });
  }
  if (applied.length > MAX_LAYERS) {
    throw new AttemptFailure("untrusted", `answered in ${applied.length} encodings, one inside the other`);
  }
  return applied.length;
}

function asBodyFailure(error: unknown): unknown {
  if (hasErrorCode(error, "Z_BUF_ERROR")) {
    return new AttemptFailure("truncated", "was cut short", { detail: "its gzip has no end" });
  }
  const isGzipError = error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
  if (!isGzipError) return error;
  return new AttemptFailure("untrusted", "answered with bytes that are not gzip, as its Content-Encoding claims");
}

function tooLarge(maxBytes: number): AttemptFailure {
  const detail = `${formatSize(maxBytes)}, SIMCAT_MAX_BODY`;
  return new AttemptFailure("too_large", "answered with more than is accepted", { detail });
}

/**
 * Decompresses a complete body; null if it is longer than MAX_WHOLE_BYTES. A stream would take far longer.
 * @throws AttemptFailure
 */
function gunzipWhole(bytes: Buffer, layers: number): Buffer | null {
  let decoded = bytes;
  try {
    for (let layer = 0; layer < layers && decoded.length > 0; layer++) {
      decoded = gunzipSync(decoded, { maxOutputLength: MAX_WHOLE_BYTES });
    }
    return decoded;
  } catch (error) {
    if (hasErrorCode(error, "ERR_BUFFER_TOO_LARGE")) return null;
    throw asBodyFailure(error);
  }
}

import type { IncomingHttpHeaders } from "node:http";
import type { Printable } from "../redact.ts";
import { AttemptFailure, type ResponseHead } from "./attempt-failure.ts";
import { decodeStream, decodeWhole, type Encoding, parseEncodings, tooLarge } from "./decode.ts";
import { header } from "./headers.ts";
import type { InFlightRequest } from "./http-request.ts";

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
  constructor(head: ResponseHead, request: InFlightRequest, maxBodyBytes: number, printable: Printable) {
    this.headers = head.headers;
    this.sentAt = head.sentAt;
    this.#request = request;
    this.#maxBodyBytes = maxBodyBytes;
    const encodings = parseEncodings(header(head.headers, "content-encoding"), printable);
    const isPlain = encodings.length === 0;
    if (isPlain && Number(header(head.headers, "content-length")) > maxBodyBytes) throw tooLarge(maxBodyBytes);
    this.#decoded = isPlain ? null : decode(request, encodings, maxBodyBytes);
  }

  /**
   * The next decoded bytes; null after the last.
   * @throws AttemptFailure
   */
  async read(): Promise<Buffer | null> {
    const bytes = this.#decoded === null ? await this.#request.read() : ((await this.#decoded.next()).value ?? null);
    this.#readBytes += bytes?.length ?? 0;
    if (this.#readBytes > this.#maxBodyBytes) throw tooLarge(this.#maxBodyBytes);
    return bytes;
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

async function* decode(
  request: InFlightRequest,
  encodings: readonly Encoding[],
  maxBytes: number,
): AsyncGenerator<Buffer> {
  const first = await request.read();
  if (first === null) return;
  if (request.isFullyRead()) {
    yield encodings.reduce((bytes, encoding) => decodeWhole(bytes, encoding, maxBytes), first);
    return;
  }
  const all = async function* () {
    yield first;
    for (let bytes = await request.read(); bytes !== null; bytes = await request.read()) yield bytes;
  };
  yield* encodings.reduce<AsyncGenerator<Buffer>>((bytes, encoding) => decodeStream(bytes, encoding, maxBytes), all());
}

/** Decoded bytes of an error's body that are read for the message. */
const MAX_QUOTED_BYTES = 1 << 20;

/**
 * The first words of an error's body, for the message; empty if it has none or they cannot be read in `maxMs`. A longer
 * body costs its connection.
 */
export async function quoteBody(
  { headers }: ResponseHead,
  request: InFlightRequest,
  maxMs: number,
  printable: Printable,
): Promise<string> {
  request.shortenDeadline(maxMs);
  try {
    const body = (await request.read()) ?? Buffer.alloc(0);
    const encodings = parseEncodings(header(headers, "content-encoding"), printable);
    const decoded = encodings.reduce((bytes, encoding) => decodeWhole(bytes, encoding, MAX_QUOTED_BYTES), body);
    return printable(decoded.toString("utf8"));
  } catch (error) {
    if (error instanceof AttemptFailure) return "";
    throw error;
  }
}

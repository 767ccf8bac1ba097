import type { IncomingHttpHeaders } from "node:http";
import { AttemptFailure, type Head } from "./attempt-failure.ts";
import { decodeStream, decodeWhole, type Encoding, readEncodings, tooLarge } from "./decode.ts";
import { type Caller, Exchange, type ExchangeHooks } from "./exchange.ts";
import { header } from "./headers.ts";
import type { StopSignal } from "./life.ts";

export interface TransportOptions extends Caller {
  /** Decoded bytes of one answer, at the most. */
  readonly maxBodyBytes: number;
  /** How long the body of an answer that is no 200 is read for, to quote it and to keep the connection. */
  readonly drainMs: number;
}

/** An answer of status 200, to be read to its end, once, and dropped in any case. */
export class Answer {
  readonly headers: IncomingHttpHeaders;
  readonly sentAt: number;
  private readonly exchange: Exchange;
  /** Null when the body is not encoded. */
  private readonly body: AsyncGenerator<Buffer> | null;
  private readonly maxBodyBytes: number;
  private total = 0;

  constructor(head: Head, exchange: Exchange, body: AsyncGenerator<Buffer> | null, maxBodyBytes: number) {
    this.headers = head.headers;
    this.sentAt = head.sentAt;
    this.exchange = exchange;
    this.body = body;
    this.maxBodyBytes = maxBodyBytes;
  }

  /** The next decoded bytes; null behind the last. Throws AttemptFailure. */
  async read(): Promise<Buffer | null> {
    const next = this.body === null ? await this.exchange.read() : ((await this.body.next()).value ?? null);
    this.total += next?.length ?? 0;
    if (this.total > this.maxBodyBytes) throw tooLarge(this.maxBodyBytes);
    return next;
  }

  /** Local monotonic time of the last byte. */
  endedAt(): number {
    return this.exchange.endedAt() ?? performance.now();
  }

  /** Decoded bytes so far. */
  bytes(): number {
    return this.total;
  }

  drop(): void {
    this.exchange.drop();
    // Lets go of the decoders, if it is waiting between two batches.
    this.body?.return(null).catch(() => {});
  }
}

async function* batches(exchange: Exchange): AsyncGenerator<Buffer> {
  for (let batch = await exchange.read(); batch !== null; batch = await exchange.read()) yield batch;
}

async function* decoded(exchange: Exchange, encodings: readonly Encoding[], cap: number): AsyncGenerator<Buffer> {
  const first = await exchange.read();
  if (first === null) return;
  if (exchange.isRead()) {
    yield encodings.reduce((bytes, encoding) => decodeWhole(bytes, encoding, cap), first);
    return;
  }
  const all = async function* () {
    yield first;
    yield* batches(exchange);
  };
  yield* encodings.reduce<AsyncGenerator<Buffer>>((bytes, encoding) => decodeStream(bytes, encoding, cap), all());
}

/** The first words of an error's body, for the message. Its connection is given up when the rest would take long. */
async function quote(exchange: Exchange, head: Head, { printable, drainMs }: TransportOptions): Promise<string> {
  exchange.hurry(drainMs);
  try {
    const body = (await exchange.read()) ?? Buffer.alloc(0);
    const encodings = readEncodings(header(head.headers, "content-encoding"), printable);
    const plain = encodings.reduce((bytes, encoding) => decodeWhole(bytes, encoding, 1 << 20), body);
    return printable(plain.toString("utf8"));
  } catch (error) {
    if (error instanceof AttemptFailure) return "";
    throw error;
  }
}

/** One attempt: resolves with the head of an answer of 200, throws an AttemptFailure for any other. */
export async function openAnswer(
  options: TransportOptions,
  path: string,
  hooks: ExchangeHooks,
  signal: StopSignal,
): Promise<Answer> {
  const { maxBodyBytes, printable } = options;
  const exchange = new Exchange(options, path, hooks, signal);
  try {
    const head = await exchange.head();
    if (head.status !== 200) {
      const said = await quote(exchange, head, options);
      const detail = said === "" ? "" : `it said "${said}"`;
      throw new AttemptFailure("status", `answered ${head.status}`, { detail, head });
    }
    const encodings = readEncodings(header(head.headers, "content-encoding"), printable);
    if (encodings.length === 0 && Number(header(head.headers, "content-length")) > maxBodyBytes) {
      throw tooLarge(maxBodyBytes);
    }
    const body = encodings.length === 0 ? null : decoded(exchange, encodings, maxBodyBytes);
    return new Answer(head, exchange, body, maxBodyBytes);
  } catch (error) {
    exchange.drop();
    throw error;
  }
}

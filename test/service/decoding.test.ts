import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { SourceUnavailableError, SourceUntrustedError } from "../../src/errors.ts";
import { failureOf, LISTING, never, open, serve, serveStatus } from "./service-under-test.ts";

const LONG = `[${Array.from({ length: 20_000 }, (_, i) => `{"libraryName":"L${i} ${Math.sin(i)}","uploadUser":"ada"}`)}]`;

function serveBody(encoding: string, body: Buffer | string, chunked = false) {
  return serve((_, response) => {
    response.setHeader("content-encoding", encoding);
    if (!chunked) response.setHeader("content-length", Buffer.byteLength(body));
    response.end(body);
  });
}

describe("a body", () => {
  const encodings: [string, (text: Buffer | string) => Buffer][] = [
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["GZip", gzipSync],
    ["gzip,x-gzip", (text) => gzipSync(gzipSync(text))],
    ["identity", (text) => Buffer.from(text)],
    ["identity, gzip", gzipSync],
    ["", (text) => Buffer.from(text)],
  ];

  it.each(encodings)("in %j is decoded, whether it is small or large", async (encoding, encode) => {
    for (const [text, length] of [[LISTING, 1] as const, [LONG, 20_000] as const]) {
      const server = await serveBody(encoding, encode(text), text === LONG);
      const service = open(server.url, { maxBodyBytes: LONG.length });
      expect((await service.listLibraries(never)).libraries).toHaveLength(length);
      expect(service.counters().bytes).toBe(text.length);
    }
  });
});

describe("a body that does not match its declared encoding (fault 6)", () => {
  it.each([
    ["plain bytes as gzip", "gzip", LISTING, "bytes that are not gzip, as its Content-Encoding claims"],
    ["deflate", "deflate", deflateSync(LISTING), "an encoding that simcat does not know"],
    ["brotli", "br", brotliCompressSync(LISTING), "an encoding that simcat does not know"],
    ["brotli inside gzip", "br, gzip", gzipSync(LISTING), "an encoding that simcat does not know"],
    ["brotli as gzip", "gzip", brotliCompressSync(LISTING), "bytes that are not gzip"],
    ["gzip and then a text", "gzip", Buffer.concat([gzipSync("[]"), Buffer.from("[]")]), "bytes that are not gzip"],
    ["a large plain body as gzip", "gzip", LONG, "bytes that are not gzip"],
    ["an unknown encoding", "zstd", LISTING, "an encoding that simcat does not know"],
    ["an encoding that could forge a line", "x\u009by", LISTING, "an encoding that simcat does not know"],
    ["four encodings", "gzip, gzip, gzip, gzip", LISTING, "4 encodings, one inside the other"],
  ])("is reported after one attempt: %s", async (_, encoding, body, said) => {
    const server = await serveBody(encoding, body);
    const error = await failureOf(open(server.url).listLibraries(never));
    expect(error).toBeInstanceOf(SourceUntrustedError);
    expect(error.message).toContain(said);
    if (encoding === "zstd") expect(error.message).toContain("; zstd)");
    expect(error.message).not.toContain("\u009b");
    expect(server.targets).toHaveLength(1);
  });

  it.each([
    ["short", gzipSync(LISTING)],
    ["long", gzipSync(LONG)],
  ])("is truncated and requested again when its %s gzip has no end", async (_, body) => {
    const encoding = "gzip";
    const server = await serve((_, response) => {
      response.setHeader("content-encoding", encoding);
      response.end(server.targets.length === 1 ? body.subarray(0, body.length - 12) : body);
    });
    const service = open(server.url, { maxBodyBytes: LONG.length });
    expect((await service.listLibraries(never)).libraries.length).toBeGreaterThan(0);
    expect(service.counters().retries).toBe(1);
    const cut = await serveBody(encoding, body.subarray(0, body.length - 12));
    const once = open(cut.url, { maxRetries: 0, maxBodyBytes: LONG.length });
    const error = await failureOf(once.listLibraries(never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toContain(`was cut short (asked ${cut.url}libs; its gzip has no end)`);
  });
});

describe("the limit on decoded bytes", () => {
  const padded = (bytes: number) => `[${" ".repeat(bytes - 2)}]`;
  const encodings: [string, (text: string) => Buffer][] = [
    ["identity", (text) => Buffer.from(text)],
    ["gzip", gzipSync],
    ["gzip, gzip", (text) => gzipSync(gzipSync(text))],
  ];

  it.each(
    encodings.flatMap(([name, encode]) =>
      [100, 300_000, 1 << 20, 3_000_000].map((size) => [name, size, encode] as const),
    ),
  )("accepts %s of exactly %i bytes and rejects one more", async (encoding, maxBodyBytes, encode) => {
    const exact = await serveBody(encoding, encode(padded(maxBodyBytes)), true);
    expect((await open(exact.url, { maxBodyBytes }).listLibraries(never)).libraries).toHaveLength(0);
    const over = await serveBody(encoding, encode(padded(maxBodyBytes + 1)), true);
    const error = await failureOf(open(over.url, { maxBodyBytes }).listLibraries(never));
    expect(error).toBeInstanceOf(SourceUntrustedError);
    expect(error.message).toContain("answered with more than is accepted");
    expect(error.message).toContain("SIMCAT_MAX_BODY");
    expect(over.targets).toHaveLength(1);
  });

  it("applies to an announced length before the body arrives", async () => {
    const server = await serve((_, response) => {
      response.setHeader("content-length", 101);
      response.flushHeaders();
    });
    const error = await failureOf(open(server.url, { maxBodyBytes: 100 }).listLibraries(never));
    expect(error.message).toContain("more than is accepted (asked ");
  });
});

describe("the quoted text of an error's body", () => {
  it.each([
    ["is decoded from gzip", gzipSync("too busy"), '; it said "too busy")'],
    ["is omitted when the body does not match its declared encoding", "too busy", "libs);"],
  ])("%s", async (_, body, said) => {
    const server = await serve((_request, response) => {
      response.writeHead(503, { "content-encoding": "gzip" }).end(body);
    });
    expect((await failureOf(open(server.url, { maxRetries: 0 }).listLibraries(never))).message).toContain(said);
  });

  it("is awaited only briefly", async () => {
    const server = await serve((_, response) => {
      response.writeHead(400).write("never ending");
    });
    const service = open(server.url, { timing: { errorBodyMs: 20 } });
    const { message } = await failureOf(service.listLibraries(never));
    expect(message).toContain(`answered 400 (asked ${server.url}libs);`);
  });

  it("is read only up to the length of the quote", async () => {
    const server = await serveStatus(400, {}, "x".repeat(2 ** 24));
    const { message } = await failureOf(open(server.url).listLibraries(never));
    expect(message).toContain(`it said "${"x".repeat(200)}…"`);
  });
});

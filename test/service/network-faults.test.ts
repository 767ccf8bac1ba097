import { describe, expect, it } from "vitest";
import { SourceUnavailableError } from "../../src/errors.ts";
import { failureOf, LISTING, never, open, serveRaw, serveWell } from "./service-under-test.ts";

const plain = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const CLOSING = "HTTP/1.1 200 OK\r\nconnection: close\r\n";

describe("a truncated body", () => {
  const cuts: [string, string, "end" | "reset"][] = [
    ["shorter than its Content-Length", `HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n${LISTING}`, "end"],
    ["shorter, on a connection that closes", `${CLOSING}content-length: 500\r\n\r\n[`, "end"],
    ["reset in the middle", `HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n[{"lib`, "reset"],
    ["chunked, in the middle of a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n20\r\n[", "end"],
    ["chunked, before the last chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n", "end"],
    ["chunked, closing", `${CLOSING}transfer-encoding: chunked\r\n\r\n2\r\n[]\r\n`, "end"],
    ["ended by the close alone", `HTTP/1.1 200 OK\r\n\r\n${LISTING.slice(0, -1)}`, "end"],
    ["ended by a reset alone", `HTTP/1.1 200 OK\r\n\r\n${LISTING.slice(0, 20)}`, "reset"],
    ["ended by the close before it began", "HTTP/1.1 200 OK\r\n\r\n", "end"],
  ];

  it.each(cuts)("is requested again, and makes the listing unavailable on every attempt: %s", async (_, bytes, how) => {
    const server = await serveRaw((socket) => {
      if (server.targets.length === 3) socket.end(plain(LISTING));
      else socket.write(bytes, () => (how === "end" ? socket.end() : socket.resetAndDestroy()));
    });
    const service = open(server.url, { maxRetries: 1 });
    const error = await failureOf(service.listLibraries(never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toMatch(/^GET \/libs (was cut short|failed) after 2 attempts /);
    expect(service.counters()).toMatchObject({ requests: 2, retries: 1 });
    expect((await service.listLibraries(never)).libraries).toHaveLength(1);
  });
});

describe("an answer that is not HTTP", () => {
  it.each([
    ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["a head that is cut", "HTTP/1.1 200 OK\r\ncontent-le"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n[]"],
    ["a bad chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n[]"],
    ["an upgrade", "HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"],
  ])("is a network fault and is retried: %s", async (_, bytes) => {
    const server = await serveRaw((socket) => socket.end(bytes));
    const error = await failureOf(open(server.url, { maxRetries: 1 }).listLibraries(never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(server.targets).toHaveLength(2);
  });

  it.each(["102 Processing", "103 Early Hints"])("is skipped when it precedes the final answer: %s", async (first) => {
    const server = await serveRaw((socket) => socket.write(`HTTP/1.1 ${first}\r\nlink: <x>\r\n\r\n${plain(LISTING)}`));
    expect((await open(server.url).listLibraries(never)).libraries).toHaveLength(1);
  });

  it("is reported when it is an unsolicited 100 Continue (fault 26)", async () => {
    const server = await serveRaw((socket) => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${plain(LISTING)}`));
    const error = await failureOf(open(server.url, { maxRetries: 1 }).listLibraries(never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toBe(
      `GET /libs failed after 2 attempts (asked ${server.url}libs; the answer began with an unasked 100 Continue); ` +
        "simcat cannot read such an answer: turn that off at the server, or the proxy in front of it",
    );
  });
});

it("a kept-alive connection is kept after an answer other than 200", async () => {
  const sockets = new Set<unknown>();
  const server = await serveWell((request, response) => {
    sockets.add(request.socket);
    if (server.targets.length > 3) return false;
    response.writeHead(503).end("x".repeat(30_000));
    return true;
  });
  await open(server.url, { concurrency: 1 }).listLibraries(never);
  expect([server.targets.length, sockets.size]).toEqual([4, 1]);
});

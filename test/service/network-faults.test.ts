import { describe, expect, it } from "vitest";
import { ContentError, SourceUnavailableError } from "../../src/errors.ts";
import {
  collect,
  failureOf,
  LIBRARY,
  LISTING,
  METADATA,
  never,
  open,
  serveRaw,
  serveWell,
} from "./service-under-test.ts";

const plain = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

describe("a connection that cannot be made", () => {
  it.each([
    ["it is refused", "http://127.0.0.1:1/v1/", "connect ECONNREFUSED 127.0.0.1:1", "ECONNREFUSED"],
    ["its name does not resolve", "http://nobody.invalid/v1/", "nobody.invalid", /^E/],
  ])("is tried five times when %s (fault 1)", async (_, url, said, code) => {
    const service = open(new URL(url));
    const error = await failureOf(service.listLibraries(never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toContain(`GET /libs failed after 5 attempts (asked ${url}libs; `);
    expect(error.message).toContain(`${said}); the service is down or the base URL ${url} is wrong`);
    expect(error.cause).toMatchObject({ code: expect.stringMatching(code) });
    expect(service.counters()).toMatchObject({ requests: 5, retries: 4 });
    const content = await failureOf(service.readContent(LIBRARY, collect(), never));
    expect(content).toBeInstanceOf(ContentError);
    expect(content).toMatchObject({ code: "network", unavailable: true });
  });
});

describe("a truncated body", () => {
  const cuts: [string, string, "end" | "reset"][] = [
    ["shorter than its Content-Length", `HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n${LISTING}`, "end"],
    [
      "shorter, on a connection that closes",
      `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 500\r\n\r\n[`,
      "end",
    ],
    ["reset in the middle", `HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n[{"lib`, "reset"],
    ["chunked, in the middle of a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n20\r\n[", "end"],
    ["chunked, before the last chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n", "end"],
    [
      "chunked, closing",
      "HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n",
      "end",
    ],
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

  it("delivers its scenarios again, exactly once (fault 2)", async () => {
    const items = Array.from({ length: 5000 }, (_, i) => `{"scenarioId":${i + 1},"scenarioName":"scenario ${i + 1}"}`);
    const body = `[${items.join(",")}]`;
    let cut = false;
    const server = await serveRaw((socket, target) => {
      if (target.endsWith("/metadata")) socket.write(plain(METADATA));
      else if (cut) socket.write(plain(body));
      else {
        cut = true;
        socket.write(plain(body).slice(0, 150_000), () => socket.resetAndDestroy());
      }
    });
    const service = open(server.url);
    const sink = collect();
    const read = await service.readContent(LIBRARY, sink, never);
    expect(read.items).toBe(5000);
    expect([...sink.scenarios.keys()]).toEqual(items.map((_, i) => i + 1));
    expect(sink.restarts).toBe(2);
    expect(service.counters()).toMatchObject({ requests: 3, retries: 1 });
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

describe("a kept-alive connection", () => {
  it("is kept after an answer other than 200", async () => {
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
});

import { once } from "node:events";
import { createServer } from "node:net";
import { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { SourceUnavailableError } from "../../src/errors.ts";
import { collect, failureOf, LIBRARY, LISTING, METADATA, never, open, serve, serveRaw } from "./service-under-test.ts";

const QUICK = { requestTimeoutMs: 60, maxRetries: 1 } as const;

describe("the deadline", () => {
  it("aborts a server that accepts and never answers (fault 4)", async () => {
    const server = await serveRaw(() => {});
    const error = await failureOf(open(server.url, QUICK).listLibraries(never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toContain("GET /libs timed out after 2 attempts (asked ");
    expect(error.message).toContain("no complete answer within 60 ms)");
    expect(server.targets).toHaveLength(2);
  });

  it("fails one library as timeout on content (fault 4)", async () => {
    const server = await serveRaw((socket, target) => {
      if (target.endsWith("/metadata"))
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${METADATA.length}\r\n\r\n${METADATA}`);
    });
    const error = await failureOf(open(server.url, QUICK).readContent(LIBRARY, collect(), never));
    expect(error).toMatchObject({ code: "timeout", unavailable: true });
  });

  it("aborts a slowly dripping body", async () => {
    const server = await serve((_, response) => {
      response.write("[");
      const drip = setInterval(() => response.write(" "), 5);
      response.on("close", () => clearInterval(drip));
    });
    const error = await failureOf(open(server.url, QUICK).listLibraries(never));
    expect(error.message).toContain("timed out after 2 attempts");
  });

  it("aborts a body whose large parts keep arriving after the deadline", async () => {
    const server = await serve((_, response) => {
      response.write("[");
      const pour = setInterval(() => response.write(" ".repeat(70_000)), 20);
      response.on("close", () => clearInterval(pour));
    });
    const error = await failureOf(open(server.url, QUICK).listLibraries(never));
    expect(error.message).toContain("timed out after 2 attempts");
  });

  it("accepts an answer that arrived in time while the process was busy", async () => {
    const { port, stop } = await serveElsewhere(LISTING, 50);
    const service = open(new URL(`http://127.0.0.1:${port}/v1/`), { requestTimeoutMs: 200, maxRetries: 0 });
    const read = service.listLibraries(never);
    await new Promise((resolve) => setTimeout(resolve, 20));
    // After the event loop's poll phase and before its timers.
    await new Promise((resolve) => setImmediate(resolve));
    for (const end = performance.now() + 400; performance.now() < end; );
    expect((await read).libraries).toHaveLength(1);
    await stop();
  });

  it("aborts slowly dripping headers", async () => {
    const server = await serveRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      const drip = setInterval(() => socket.write("x: y\r\n"), 5);
      socket.on("close", () => clearInterval(drip));
    });
    expect((await failureOf(open(server.url, QUICK).listLibraries(never))).message).toContain("timed out");
  });

  it("aborts an unfinished TLS handshake", async () => {
    const server = createServer((socket) => socket.on("error", () => {}));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const error = await failureOf(open(new URL(`https://127.0.0.1:${port}/v1/`), QUICK).listLibraries(never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toContain("timed out after 2 attempts");
  });

  it("applies to each attempt: the next one may succeed", async () => {
    const server = await serve((_, response) => {
      if (server.targets.length > 1) response.end(LISTING);
    });
    const service = open(server.url, { ...QUICK, requestTimeoutMs: 500 });
    expect((await service.listLibraries(never)).libraries).toHaveLength(1);
    expect(service.counters()).toMatchObject({ requests: 2, retries: 1 });
  });

  it("excludes the time in which simcat itself pauses the stream", async () => {
    const items = Array.from({ length: 30_000 }, (_, i) => `{"scenarioId":${i + 1},"description":"${"x".repeat(80)}"}`);
    const server = await serve((request, response) => {
      response.end(request.url?.endsWith("/scenarios") ? `[${items}]` : METADATA);
    });
    const sink = collect();
    let held = 0;
    const slow = {
      ...sink,
      async add(scenarios: Parameters<typeof sink.add>[0]) {
        // Twice the deadline in total, in the middle of the list.
        for (let i = 0; i < 4 && held < 2; i++) await new Promise((resolve) => setTimeout(resolve, 250));
        held++;
        await sink.add(scenarios);
      },
    };
    const service = open(server.url, { requestTimeoutMs: 1000, maxRetries: 0, maxBodyBytes: 2 ** 23 });
    expect((await service.readContent(LIBRARY, slow, never)).items).toBe(30_000);
    expect(sink.scenarios.size).toBe(30_000);
  });

  it("does not limit a slow sink: the stream waits for it", async () => {
    const items = Array.from(
      { length: 20_000 },
      (_, i) => `{"scenarioId":${i + 1},"description":"${"x".repeat(500)}"}`,
    );
    let written = 0;
    const server = await serve((request, response) => {
      if (!request.url?.endsWith("/scenarios")) {
        response.end(METADATA);
        return;
      }
      let i = 0;
      const pour = () => {
        while (i < items.length) {
          written = i;
          if (!response.write(`${i === 0 ? "[" : ","}${items[i++]}`)) return;
        }
        response.end("]");
      };
      response.on("drain", pour);
      pour();
    });
    const sink = collect();
    const { promise, release } = gate();
    let first = true;
    const blocked = {
      ...sink,
      async add(scenarios: Parameters<typeof sink.add>[0]) {
        if (first) {
          first = false;
          await promise;
        }
        await sink.add(scenarios);
      },
    };
    const read = open(server.url, { maxBodyBytes: 2 ** 25 }).readContent(LIBRARY, blocked, never);
    // Until the sockets' buffers are full.
    for (let before = -1; before !== written || written === 0; ) {
      before = written;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(written).toBeLessThan(items.length - 1);
    release();
    expect((await read).items).toBe(20_000);
  });
});

/** A server in its own thread, which answers while the main thread is busy. */
async function serveElsewhere(body: string, afterMs: number): Promise<{ port: number; stop: () => Promise<unknown> }> {
  const answer = JSON.stringify(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  const code = `
    const { parentPort } = require("node:worker_threads");
    const server = require("node:net").createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => setTimeout(() => socket.write(${answer}), ${afterMs}));
    });
    server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));`;
  const worker = new Worker(code, { eval: true });
  const [port] = await once(worker, "message");
  return { port, stop: () => worker.terminate() };
}

function gate(): { promise: Promise<void>; release: () => void } {
  let release = () => {};
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}

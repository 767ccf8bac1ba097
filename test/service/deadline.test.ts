import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { SourceUnavailableError } from "../../src/errors.ts";
import type { ScenarioSink } from "../../src/model.ts";
import { listen } from "../support/listen.ts";
import { collect, failureOf, LIBRARY, LISTING, METADATA, never, open, serve, serveRaw } from "./service-under-test.ts";

const QUICK = { requestTimeoutMs: 250, maxRetries: 1 } as const;

describe("the deadline", () => {
  it.each([
    ["a server that accepts and never answers (fault 4)", "", "", 1000],
    ["slowly dripping headers", "HTTP/1.1 200 OK\r\n", "x: y\r\n", 5],
    ["a slowly dripping body", "HTTP/1.1 200 OK\r\n\r\n[", " ", 5],
    ["a body whose large parts keep arriving", "HTTP/1.1 200 OK\r\n\r\n[", " ".repeat(70_000), 20],
  ])("aborts %s", async (_, beginning, part, everyMs) => {
    const server = await serveRaw((socket) => {
      socket.write(beginning);
      const drip = setInterval(() => socket.write(part), everyMs);
      socket.on("close", () => clearInterval(drip));
    });
    const error = await failureOf(open(server.url, { ...QUICK, maxBodyBytes: 2 ** 30 }).listLibraries(never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toContain("GET /libs timed out after 2 attempts (asked ");
    expect(error.message).toContain("no complete answer within 250 ms)");
    expect(server.targets).toHaveLength(2);
  });

  it("accepts an answer that arrived in time while the process was busy", async () => {
    const { port, stop } = await serveElsewhere(LISTING, 50);
    const service = open(new URL(`http://127.0.0.1:${port}/v1/`), { requestTimeoutMs: 200, maxRetries: 0 });
    const read = service.listLibraries(never);
    await sleep(20);
    // After the event loop's poll phase and before its timers.
    await new Promise((resolve) => setImmediate(resolve));
    for (const end = performance.now() + 400; performance.now() < end; );
    expect((await read).libraries).toHaveLength(1);
    await stop();
  });

  it("aborts an unfinished TLS handshake", async () => {
    const port = await listen(createServer((socket) => socket.on("error", () => {})));
    const error = await failureOf(open(new URL(`https://127.0.0.1:${port}/v1/`), QUICK).listLibraries(never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toContain("timed out after 2 attempts");
  });

  it("excludes the time in which simcat itself pauses the stream", async () => {
    const items = Array.from({ length: 30_000 }, (_, i) => `{"scenarioId":${i + 1},"description":"${"x".repeat(80)}"}`);
    const server = await serve((request, response) => {
      response.end(request.url?.endsWith("/metadata") ? METADATA : `[${items}]`);
    });
    const sink = collect();
    let held = 0;
    const add: ScenarioSink["add"] = async (scenarios) => {
      // Twice the deadline in total, in the middle of the list.
      if (held < 2) await sleep(1000);
      held++;
      await sink.add(scenarios);
    };
    const service = open(server.url, { requestTimeoutMs: 1000, maxRetries: 0, maxBodyBytes: 2 ** 23 });
    expect((await service.readContent(LIBRARY, { ...sink, add }, never)).items).toBe(30_000);
    expect(sink.scenarios.size).toBe(30_000);
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

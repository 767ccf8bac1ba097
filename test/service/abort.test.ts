import { describe, expect, it, onTestFinished } from "vitest";
import {
  collect,
  failureOf,
  goodBody,
  LIBRARY,
  library,
  never,
  open,
  serve,
  serveRaw,
  serveStatus,
  serveWell,
  watchRequests,
} from "./service-under-test.ts";

const REASON = new Error("SIGTERM");

/** What the process emits during the test. */
function watchProcess(event: "unhandledRejection" | "warning"): unknown[] {
  const seen: unknown[] = [];
  const note = (error: unknown) => seen.push(error);
  process.on(event, note);
  onTestFinished(() => void process.off(event, note));
  return seen;
}

const turns = () => new Promise((resolve) => setTimeout(resolve, 20));

describe("an abort", () => {
  it("before the start sends no request", async () => {
    const server = await serveStatus(200, {}, "[]");
    const service = open(server.url);
    const signal = AbortSignal.abort(REASON);
    expect(await failureOf(service.listLibraries(signal))).toBe(REASON);
    expect(await failureOf(service.readContent(LIBRARY, collect(), signal))).toBe(REASON);
    expect(server.targets).toEqual([]);
  });

  it.each([
    ["no answer", ""],
    ["half a head", "HTTP/1.1 200 OK\r\ncontent"],
    ["half a body", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n["],
    ["half an error's body", "HTTP/1.1 503 Busy\r\ncontent-length: 100\r\n\r\n["],
  ])("at %s rejects with its reason and closes the connection", async (_, bytes) => {
    const errors = watchProcess("unhandledRejection");
    const caller = new AbortController();
    let closed: Promise<unknown> = Promise.resolve();
    const server = await serveRaw((socket) => {
      closed = new Promise((resolve) => socket.once("close", resolve));
      if (bytes === "") caller.abort(REASON);
      else socket.write(bytes, () => setImmediate(() => caller.abort(REASON)));
    });
    expect(await failureOf(open(server.url).listLibraries(caller.signal))).toBe(REASON);
    await closed;
    await turns();
    expect(server.targets).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  it("after the last byte of an answer lets the caller finish reading it", async () => {
    const server = await serveWell();
    const caller = new AbortController();
    let answered = 0;
    watchRequests("undici:request:trailers", server, () => {
      if (++answered === 2) queueMicrotask(() => caller.abort(REASON));
    });
    const service = open(server.url, { concurrency: 1 });
    expect((await service.readContent(LIBRARY, collect(), caller.signal)).items).toBe(2);
    expect(await failureOf(service.readContent(LIBRARY, collect(), caller.signal))).toBe(REASON);
    expect(answered).toBe(2);
  });

  it.each([
    ["back-off ends the wait", "retry", 503, {}],
    ["pause ends the wait of every queued request", "throttled", 429, { "retry-after": "30" }],
  ])("during a %s at once", async (_, event, status, headers) => {
    const caller = new AbortController();
    const server = await serveStatus(status, headers);
    const service = open(server.url, {
      concurrency: 1,
      timing: { backoffBaseMs: 60_000, maxBackoffMs: 60_000 },
      onEvent: ({ kind }) => kind === event && setImmediate(() => caller.abort(REASON)),
    });
    const reads = ["1", "2", "3"].map((name) =>
      failureOf(service.readContent(library(name), collect(), caller.signal)),
    );
    expect(await Promise.all(reads)).toEqual([REASON, REASON, REASON]);
    expect(server.targets.length).toBeLessThanOrEqual(event === "retry" ? 6 : 1);
  });

  it("does not wait for a sink that never finishes, and passes it nothing more", async () => {
    const errors = watchProcess("unhandledRejection");
    const caller = new AbortController();
    const server = await serveWell();
    let calls = 0;
    const stuck = {
      ...collect(),
      add: () => {
        calls++;
        caller.abort(REASON);
        return new Promise<void>((_, reject) => setTimeout(() => reject(new Error("too late")), 10));
      },
    };
    expect(await failureOf(open(server.url).readContent(LIBRARY, stuck, caller.signal))).toBe(REASON);
    await turns();
    expect(calls).toBe(1);
    expect(errors).toEqual([]);
  });

  it("of one call does not affect other calls", async () => {
    const caller = new AbortController();
    const server = await serve((request, response) => {
      if (request.url?.includes("Slow")) caller.abort(REASON);
      else response.end(goodBody(request.url ?? ""));
    });
    const service = open(server.url);
    const slow = failureOf(service.readContent(library("Slow"), collect(), caller.signal));
    expect((await service.readContent(LIBRARY, collect(), never)).items).toBe(2);
    expect(await slow).toBe(REASON);
  });

  it("of many calls at once emits no warning about a listener leak", async () => {
    const warnings = watchProcess("warning");
    const caller = new AbortController();
    const server = await serveRaw(() => {
      if (server.targets.length === 4) caller.abort(REASON);
    });
    const service = open(server.url, { concurrency: 4 });
    const reads = Array.from({ length: 50 }, (_, i) =>
      failureOf(service.readContent(library(`${i}`), collect(), caller.signal)),
    );
    expect(new Set(await Promise.all(reads))).toEqual(new Set([REASON]));
    await turns();
    expect(warnings).toEqual([]);
  });
});

it("closing ends requests in flight and rejects later calls", async () => {
  const errors = watchProcess("unhandledRejection");
  const server = await serveRaw(() => {});
  const service = open(server.url, { concurrency: 1 });
  const pending = [service.listLibraries(never), service.readContent(LIBRARY, collect(), never)].map(failureOf);
  await service.close();
  const later = await failureOf(service.listLibraries(never));
  for (const error of [...(await Promise.all(pending)), later]) {
    expect(error.message).toBe("The client is destroyed");
  }
  await service.close();
  await turns();
  expect(errors).toEqual([]);
});

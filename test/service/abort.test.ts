import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  collect,
  failureOf,
  goodBody,
  LIBRARY,
  never,
  open,
  serve,
  serveRaw,
  serveWell,
} from "./service-under-test.ts";

const REASON = new Error("SIGTERM");

function unhandled(): unknown[] {
  const seen: unknown[] = [];
  const note = (error: unknown) => seen.push(error);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  return seen;
}

const turns = () => new Promise((resolve) => setTimeout(resolve, 20));

describe("an abort", () => {
  it("before the start sends no request", async () => {
    const server = await serve((_, response) => response.end("[]"));
    const service = open(server.url);
    const signal = AbortSignal.abort(REASON);
    expect(await failureOf(service.listLibraries(signal))).toBe(REASON);
    expect(await failureOf(service.readContent(LIBRARY, collect(), signal))).toBe(REASON);
    expect(await failureOf(service.confirmKey(signal))).toBe(REASON);
    expect(server.targets).toEqual([]);
  });

  it.each([
    ["no answer", ""],
    ["half a head", "HTTP/1.1 200 OK\r\ncontent"],
    ["half a body", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n["],
    ["half an error's body", "HTTP/1.1 503 Busy\r\ncontent-length: 100\r\n\r\n["],
  ])("at %s rejects with its reason and closes the connection", async (_, bytes) => {
    const errors = unhandled();
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
    const onWhole = (message: unknown) => {
      const { request } = message as { request: { origin: string } };
      if (request.origin === server.url.origin && ++answered === 2) queueMicrotask(() => caller.abort(REASON));
    };
    subscribe("undici:request:trailers", onWhole);
    onTestFinished(() => {
      unsubscribe("undici:request:trailers", onWhole);
    });
    const service = open(server.url, { concurrency: 1 });
    expect((await service.readContent(LIBRARY, collect(), caller.signal)).items).toBe(2);
    expect(await failureOf(service.readContent(LIBRARY, collect(), caller.signal))).toBe(REASON);
    expect(answered).toBe(2);
  });

  it("during a back-off ends the wait at once", async () => {
    const caller = new AbortController();
    const server = await serve((_, response) => {
      response.writeHead(503).end();
    });
    const service = open(server.url, {
      timing: { backoffBaseMs: 60_000, maxBackoffMs: 60_000 },
      onEvent: ({ kind }) => kind === "retry" && setImmediate(() => caller.abort(REASON)),
    });
    expect(await failureOf(service.listLibraries(caller.signal))).toBe(REASON);
    expect(server.targets).toHaveLength(1);
  });

  it("during a pause ends the wait of every queued request", async () => {
    const caller = new AbortController();
    const server = await serve((_, response) => {
      response.statusCode = 429;
      response.setHeader("retry-after", "30");
      response.end();
    });
    const service = open(server.url, {
      concurrency: 1,
      onEvent: ({ kind }) => kind === "throttled" && setImmediate(() => caller.abort(REASON)),
    });
    const reads = [1, 2, 3].map((i) =>
      failureOf(service.readContent({ owner: "ada", name: `${i}` }, collect(), caller.signal)),
    );
    expect(await Promise.all(reads)).toEqual([REASON, REASON, REASON]);
    expect(server.targets).toHaveLength(1);
  });

  it("does not wait for a sink that never finishes, and passes it nothing more", async () => {
    const errors = unhandled();
    const caller = new AbortController();
    const server = await serve((request, response) => response.end(goodBody(request.url ?? "")));
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
    const slow = failureOf(service.readContent({ owner: "ada", name: "Slow" }, collect(), caller.signal));
    const good = await service.readContent(LIBRARY, collect(), never);
    expect(good.items).toBe(2);
    expect(await slow).toBe(REASON);
  });

  it("of a call of one client does not resume the deferred parsing of another client", async () => {
    const caller = new AbortController();
    const silent = await serveRaw(() => {});
    const aborted = failureOf(open(silent.url).listLibraries(caller.signal));
    const server = await serveWell();
    const sent: string[] = [];
    const onMessage = (note: (path: string) => void) => (message: unknown) => {
      const { request } = message as { request: { origin: string; path: string } };
      if (request.origin === server.url.origin) note(request.path.split("/").slice(-2).join(" "));
    };
    const onSent = onMessage((request) => sent.push(request));
    const onReceived = onMessage((request) => {
      if (request === "Forest scenarios") queueMicrotask(() => caller.abort(REASON));
    });
    subscribe("undici:client:sendHeaders", onSent);
    subscribe("undici:request:trailers", onReceived);
    onTestFinished(() => {
      unsubscribe("undici:client:sendHeaders", onSent);
      unsubscribe("undici:request:trailers", onReceived);
    });
    const service = open(server.url, { concurrency: 1 });
    const sink = collect();
    let sentBeforeParsing: readonly string[] = [];
    const add: typeof sink.add = async (scenarios) => {
      sentBeforeParsing = [...sent];
      await sink.add(scenarios);
    };
    await Promise.all([
      service.readContent({ owner: "ada", name: "Forest" }, { ...sink, add }, never),
      service.readContent({ owner: "ada", name: "Lake" }, collect(), never),
    ]);
    expect(sentBeforeParsing).toEqual(["Forest metadata", "Forest scenarios", "Lake metadata"]);
    expect(await aborted).toBe(REASON);
  });

  it("of many calls at once emits no warning about a listener leak", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    onTestFinished(() => void process.off("warning", note));
    const caller = new AbortController();
    const server = await serveRaw(() => {
      if (server.targets.length === 16) caller.abort(REASON);
    });
    const service = open(server.url, { concurrency: 4 });
    const reads = Array.from({ length: 50 }, (_, i) =>
      failureOf(service.readContent({ owner: "ada", name: `${i}` }, collect(), caller.signal)),
    );
    setTimeout(() => caller.abort(REASON), 20);
    expect(new Set(await Promise.all(reads))).toEqual(new Set([REASON]));
    await turns();
    expect(warnings).toEqual([]);
  });
});

describe("close", () => {
  it("ends requests in flight and rejects later calls", async () => {
    const errors = unhandled();
    const server = await serveRaw(() => {});
    const service = open(server.url, { concurrency: 1 });
    const pending = [service.listLibraries(never), service.readContent(LIBRARY, collect(), never)].map(failureOf);
    await service.close();
    for (const error of await Promise.all(pending)) expect(error.message).toBe("the client of the service was closed");
    expect((await failureOf(service.listLibraries(never))).message).toBe("the client of the service was closed");
    await service.close();
    await turns();
    expect(errors).toEqual([]);
  });
});

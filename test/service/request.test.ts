import type { IncomingHttpHeaders } from "node:http";
import { expect, it } from "vitest";
import type { Scenario } from "../../src/model.ts";
import {
  collect,
  failureOf,
  KEY,
  LIBRARY,
  library,
  METADATA,
  never,
  open,
  SCENARIOS,
  serveWell,
  watchRequests,
} from "./service-under-test.ts";

it("every request is a GET with the key and a user agent, and refuses cached answers", async () => {
  const seen: { method: string | undefined; headers: IncomingHttpHeaders }[] = [];
  const server = await serveWell(({ method, headers }) => {
    seen.push({ method, headers });
    return false;
  });
  const service = open(server.url);
  await service.listLibraries(never);
  await service.readContent(LIBRARY, collect(), never);
  expect(seen).toHaveLength(3);
  for (const { method, headers } of seen) {
    expect(method).toBe("GET");
    expect(headers).toEqual({
      host: `127.0.0.1:${server.port}`,
      connection: "keep-alive",
      "x-ss-api-key": KEY,
      "user-agent": "simcat/1.2.3",
      accept: "application/json",
      "accept-encoding": "gzip",
      "cache-control": "no-cache",
    });
  }
});

it("a connection that an answer has released sends its next request before the answer is parsed", async () => {
  const server = await serveWell();
  const service = open(server.url, { concurrency: 1 });
  const sent: string[] = [];
  watchRequests("undici:client:sendHeaders", server, (path) => sent.push(path.split("/").slice(-2).join(" ")));
  const sentBefore = new Map<string, readonly string[]>();
  const read = (name: string) => {
    const sink = collect();
    const add = async (more: readonly Scenario[]) => {
      sentBefore.set(name, [...sent]);
      await sink.add(more);
    };
    return service.readContent(library(name), { ...sink, add }, never);
  };
  await Promise.all([read("Forest"), read("Lake")]);
  expect(sentBefore.get("Forest")).toEqual(["Forest metadata", "Forest scenarios", "Lake metadata"]);
});

it("emits one event per attempt with its status or error, and one per retry with its reason", async () => {
  const server = await serveWell((_, response) => {
    if (server.targets.length === 1) response.destroy();
    else if (server.targets.length === 2) response.writeHead(503).end();
    return server.targets.length < 3;
  });
  const service = open(server.url, { concurrency: 1 });
  await service.listLibraries(never);
  expect(service.events.filter(({ kind }) => kind !== "sent" && kind !== "ended")).toEqual([
    { kind: "request", operation: "listing", outcome: "network", ms: expect.any(Number) },
    { kind: "retry", operation: "listing", reason: "failed (other side closed)", delayMs: expect.any(Number) },
    { kind: "request", operation: "listing", outcome: "5xx", ms: expect.any(Number) },
    { kind: "retry", operation: "listing", reason: "answered 503", delayMs: expect.any(Number) },
    { kind: "request", operation: "listing", outcome: "2xx", ms: expect.any(Number) },
  ]);
});

it("counters count requests, retries, and the decoded bytes of all bodies", async () => {
  const server = await serveWell((request, response) => {
    if (!request.url?.endsWith("/scenarios") || server.targets.length > 2) return false;
    response.writeHead(500).end("not counted");
    return true;
  });
  const service = open(server.url, { concurrency: 1 });
  await service.readContent(LIBRARY, collect(), never);
  expect(service.counters()).toEqual({
    requests: 3,
    retries: 1,
    bytes: METADATA.length + SCENARIOS.length,
    throttled: 0,
  });
  await failureOf(open(new URL("http://127.0.0.1:1/"), { maxRetries: 0 }).listLibraries(never));
  expect(service.counters().requests).toBe(3);
});

it("a repetition that is never sent counts neither as a request nor as a retry (fault 350)", async () => {
  const server = await serveWell((request, response) => {
    if (request.url?.endsWith("/metadata")) response.writeHead(500).end();
    else setTimeout(() => response.writeHead(404).end(), 100);
    return true;
  });
  const service = open(server.url, { concurrency: 1 });
  await failureOf(service.readContent(LIBRARY, collect(), never));
  expect(service.events.filter(({ kind }) => kind === "retry")).toHaveLength(1);
  expect(service.counters()).toMatchObject({ requests: 2, retries: 0 });
});

import { expect, it } from "vitest";
import { collect, failureOf, LIBRARY, METADATA, never, open, SCENARIOS, serveWell } from "./service-under-test.ts";

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

import { Agent } from "node:http";
import { expect, test } from "vitest";
import type { FaultAction } from "../support/mock/faults.ts";
import type { MockService } from "../support/mock/server.ts";
import { library } from "../support/organization.ts";
import { ask, listenToEnd } from "./raw-client.ts";
import { serve } from "./service.ts";

const PATH = "/libs/user/alice/A/scenarios";
const WHOLE = "[1,2,3,4,5,6,7,8,9]";
const libA = library("alice", "A", { source: { scenarios: WHOLE } });

const serveWith = (action: FaultAction): Promise<MockService> => serve([libA], { faults: [{ action }] });

test("delay answers well, later", async () => {
  const { url } = await serveWith({ kind: "delay", ms: 40 });
  const started = performance.now();
  expect((await ask(url, PATH)).text).toBe(WHOLE);
  expect(performance.now() - started).toBeGreaterThan(38);
});

test("reset before the head", async () => {
  const service = await serveWith({ kind: "reset" });
  expect(await listenToEnd(service.url, PATH)).toEqual({ text: "", head: "", body: "", ending: "ECONNRESET" });
  expect(service.requests).toMatchObject([{ path: PATH, status: null, fault: "reset" }]);
  expect((await ask(service.url, PATH)).text).toBe(WHOLE);
});

test("reset within the body", async () => {
  const { url } = await serveWith({ kind: "reset", afterBytes: 5 });
  const { head, body, ending } = await listenToEnd(url, PATH);
  expect(head).toContain("content-length: 19");
  expect([body, ending]).toEqual(["[1,2,", "ECONNRESET"]);
});

test("truncate declares the whole length and closes early", async () => {
  const { url } = await serveWith({ kind: "truncate", bytes: -1 });
  const { head, body, ending } = await listenToEnd(url, PATH);
  expect(head).toContain("content-length: 19");
  expect([body, ending]).toEqual(["[1,2,3,4,5,6,7,8,9", "end"]);
});

test("truncate cuts at half by default", async () => {
  const { url } = await serveWith({ kind: "truncate" });
  expect((await listenToEnd(url, PATH)).body).toBe("[1,2,3,4,");
});

test("truncate cuts a chunked body off before its last chunk", async () => {
  const { url } = await serveWith({ kind: "truncate", how: "chunked", bytes: 5 });
  const { head, body, ending } = await listenToEnd(url, PATH);
  expect(head).toContain("Transfer-Encoding: chunked");
  expect([body, ending]).toEqual(["5\r\n[1,2,\r\n", "end"]);
});

test("truncate ends a body only by closing, so that only the text shows the cut", async () => {
  const { url } = await serveWith({ kind: "truncate", how: "close", bytes: 5 });
  const { head, body, ending } = await listenToEnd(url, PATH);
  expect(head).toContain("Connection: close");
  expect(head).not.toMatch(/content-length|transfer-encoding/i);
  expect([body, ending]).toEqual(["[1,2,", "end"]);
});

test("hang is silent until the service stops", async () => {
  const service = await serveWith({ kind: "hang" });
  const heard = listenToEnd(service.url, PATH);
  await expect.poll(() => service.requests.length).toBe(1);
  await service.stop();
  expect((await heard).text).toBe("");
});

test.each([
  ["head" as const, ""],
  [5, "[1,2,"],
])("hang after %s sends that much and no more", async (after, expected) => {
  const service = await serveWith({ kind: "hang", after });
  let soFar = "";
  const heard = listenToEnd(service.url, PATH, (text) => {
    soFar = text;
  });
  await expect.poll(() => soFar.endsWith(`\r\n\r\n${expected}`)).toBe(true);
  await service.stop();
  const { head, body } = await heard;
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(body).toBe(expected);
});

test("drip sends a few bytes at a time, and in the end all of them", async () => {
  const { url } = await serveWith({ kind: "drip", bytes: 4, everyMs: 10 });
  const { text, pieces } = await ask(url, PATH);
  expect(text).toBe(WHOLE);
  expect(pieces[0]).toBe(4);
  expect(pieces.length).toBeGreaterThan(1);
});

test("closeKeepAlive answers well and closes the socket on the request after that", async () => {
  const service = await serveWith({ kind: "closeKeepAlive" });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  expect((await ask(service.url, PATH, { agent })).text).toBe(WHOLE);
  await expect(ask(service.url, PATH, { agent })).rejects.toMatchObject({ code: "ECONNRESET" });
  expect((await ask(service.url, PATH, { agent })).text).toBe(WHOLE);
  expect(service.requests.map(({ status }) => status)).toEqual([200, null, 200]);
  agent.destroy();
});

test("closeKeepAlive can close right after a whole answer that promised to keep the socket", async () => {
  const { url } = await serveWith({ kind: "closeKeepAlive", when: "afterAnswer" });
  const { head, body, ending } = await listenToEnd(url, PATH);
  expect(head).toContain("Connection: keep-alive");
  expect([body, ending]).toEqual([WHOLE, "end"]);
});

test("throttle refuses what is over the number in flight", async () => {
  const service = await serve([libA], {
    latencyMs: 300,
    faults: [{ times: "always", action: { kind: "throttle", inFlight: 2, status: 503, retryAfter: "1" } }],
  });
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask(service.url, PATH)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 503, 503, 503]);
  expect(answers.find(({ status }) => status === 503)?.headers["retry-after"]).toBe("1");
});

test("throttle refuses what is over the rate", async () => {
  const service = await serve([libA], {
    faults: [{ times: "always", action: { kind: "throttle", perSecond: 0.001 } }],
  });
  expect((await ask(service.url, PATH)).status).toBe(200);
  expect((await ask(service.url, PATH)).status).toBe(429);
});

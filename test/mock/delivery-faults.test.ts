import { Agent } from "node:http";
import { expect, test } from "vitest";
import type { FaultAction } from "../support/mock/faults.ts";
import { library } from "../support/organization.ts";
import { ask, listenToEnd } from "./raw-client.ts";
import { serve } from "./service.ts";

const PATH = "/libs/user/alice/A/scenarios";
const WHOLE = "[1,2,3,4,5,6,7,8,9]";
const libA = library("alice", "A", { source: { scenarios: WHOLE } });

const serveWith = (action: FaultAction) => serve([libA], { faults: [{ action }] });

test.each<[FaultAction, RegExp, string, string]>([
  [{ kind: "reset" }, /^$/, "", "ECONNRESET"],
  [{ kind: "reset", afterBytes: 5 }, /content-length: 19/, "[1,2,", "ECONNRESET"],
  [{ kind: "truncate" }, /content-length: 19/, "[1,2,3,4,", "end"],
  [{ kind: "truncate", bytes: -1 }, /content-length: 19/, "[1,2,3,4,5,6,7,8,9", "end"],
  [{ kind: "truncate", how: "chunked", bytes: 5 }, /Transfer-Encoding: chunked/, "5\r\n[1,2,\r\n", "end"],
  [{ kind: "truncate", how: "close", bytes: 5 }, /^(?!.*content-length|.*transfer-encoding)/is, "[1,2,", "end"],
  [{ kind: "closeKeepAlive", when: "afterAnswer" }, /Connection: keep-alive/, WHOLE, "end"],
])("%j ends the answer so", async (action, expectedHead, expectedBody, expectedEnding) => {
  const { url } = await serveWith(action);
  const { head, body, ending } = await listenToEnd(url, PATH);
  expect(head).toMatch(expectedHead);
  expect([body, ending]).toEqual([expectedBody, expectedEnding]);
});

test.each<["nothing" | "head" | number, string]>([
  ["nothing", ""],
  ["head", "\r\n\r\n"],
  [5, "\r\n\r\n[1,2,"],
])("hang after %j sends that much, and nothing more until the service stops", async (after, expected) => {
  const service = await serveWith({ kind: "hang", after });
  let soFar = "";
  const heard = listenToEnd(service.url, PATH, (text) => {
    soFar = text;
  });
  await expect.poll(() => service.requests.length === 1 && soFar.endsWith(expected)).toBe(true);
  await service.stop();
  expect((await heard).text.replace(/^[\s\S]*?(?=\r\n\r\n)/, "")).toBe(expected);
});

test("delay answers later, and drip a few bytes at a time; both answer whole", async () => {
  const started = performance.now();
  expect((await ask((await serveWith({ kind: "delay", ms: 40 })).url, PATH)).text).toBe(WHOLE);
  expect(performance.now() - started).toBeGreaterThan(38);
  const { text, pieces } = await ask((await serveWith({ kind: "drip", bytes: 4, everyMs: 10 })).url, PATH);
  expect([text, pieces[0]]).toEqual([WHOLE, 4]);
});

test("closeKeepAlive answers well and closes the socket on the request after that", async () => {
  const service = await serveWith({ kind: "closeKeepAlive" });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  expect((await ask(service.url, PATH, { agent })).text).toBe(WHOLE);
  await expect(ask(service.url, PATH, { agent })).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(service.requests.map(({ status }) => status)).toEqual([200, null]);
  agent.destroy();
});

test("throttle refuses what is over the number in flight or over the rate", async () => {
  const throttled = (action: FaultAction, latencyMs: number) =>
    serve([libA], { latencyMs, faults: [{ times: "always", action }] });
  const crowded = await throttled({ kind: "throttle", inFlight: 2, status: 503, retryAfter: "1" }, 300);
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask(crowded.url, PATH)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 503, 503, 503]);
  expect(answers.find(({ status }) => status === 503)?.headers["retry-after"]).toBe("1");
  const slow = await throttled({ kind: "throttle", perSecond: 0.001 }, 0);
  expect([(await ask(slow.url, PATH)).status, (await ask(slow.url, PATH)).status]).toEqual([200, 429]);
});

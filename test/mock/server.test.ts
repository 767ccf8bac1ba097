import { Agent } from "node:http";
import { expect, test } from "vitest";
import { AWKWARD_NAMES, library, scenario } from "../support/organization.ts";
import { ask } from "./raw-client.ts";
import { serve } from "./service.ts";

const libA = library("alice", "Lib A", { scenarios: [1, scenario(2, { parentId: 1, description: "dry" })] });

test("answers with the fields of the specification", async () => {
  const { url } = await serve([libA]);
  const { status, headers, text } = await ask(url, "/libs");
  expect([status, text]).toEqual([
    200,
    '[{"libraryName":"Lib A","uploadUser":"alice","lastModified":"2023-09-11 at 2:56 PM"}]',
  ]);
  expect(headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(headers["content-length"]).toBe(String(text.length));
  expect((await ask(url, "/libs/user/alice/Lib%20A/metadata")).text).toBe(
    '{"libraryName":"Lib A","libraryOwner":"alice","lastModified":"2023-09-11 at 2:56 PM","fileSize":"240 KB",' +
      '"packageName":"landscape","packageVersion":"4.3.6","description":null}',
  );
  expect((await ask(url, "/libs/user/alice/Lib%20A/scenarios")).text).toBe(
    '[{"scenarioId":1,"parentId":null,"scenarioName":"Scenario 1","isResult":false,' +
      '"lastModified":"2023-09-11 at 2:56 PM","description":null},' +
      '{"scenarioId":2,"parentId":1,"scenarioName":"Result 2","isResult":true,' +
      '"lastModified":"2023-09-11 at 2:56 PM","description":"dry"}]',
  );
});

test("sends unknown fields, missing fields and raw source as they are given", async () => {
  const { url } = await serve([
    library("alice", "Lib A", {
      entryFields: { uploadUser: undefined, colour: "green" },
      source: { metadata: '{"fileSize":1e2}' },
      scenarios: [
        scenario(1, { fields: { isResult: "no", cost: { usd: 3 } } }),
        scenario(2, { source: '{"scenarioId":9223372036854775807}' }),
      ],
    }),
    library("alice", "Lib B", { source: { scenarios: "nonsense" } }),
  ]);
  expect(JSON.parse((await ask(url, "/libs")).text)[0]).toEqual({
    libraryName: "Lib A",
    lastModified: "2023-09-11 at 2:56 PM",
    colour: "green",
  });
  expect((await ask(url, "/libs/user/alice/Lib%20A/metadata")).text).toBe('{"fileSize":1e2}');
  const scenarios = (await ask(url, "/libs/user/alice/Lib%20A/scenarios")).text;
  expect(scenarios).toContain('"isResult":"no"');
  expect(scenarios).toContain('"cost":{"usd":3}},{"scenarioId":9223372036854775807}]');
  expect((await ask(url, "/libs/user/alice/Lib%20B/scenarios")).text).toBe("nonsense");
});

test("finds every awkward name by its encoded path, and records the path as received", async () => {
  const service = await serve(AWKWARD_NAMES.map((name) => library("o'wner/1", name)));
  for (const name of AWKWARD_NAMES) {
    const path = `/libs/user/${encodeURIComponent("o'wner/1")}/${encodeURIComponent(name)}/metadata`;
    const { status, text } = await ask(service.url, path);
    expect([status, JSON.parse(text).libraryName]).toEqual([200, name]);
    expect(service.requests.at(-1)?.path).toBe(path);
  }
});

test.each([
  ["/libs/user/bob/Lib%20A/metadata", 404],
  ["/libs/", 404],
  ["/v1/libs", 404],
  ["/libs/user//Lib%20A/metadata", 404],
  ["/libs/user/alice/Lib%20A/maps", 404],
  ["/libs/user/alice/%zz/metadata", 400],
  ["/libs/user/alice/%ff/metadata", 400],
  ['/libs/user/alice/"x"/metadata', 400],
  ["/libs/user/../Lib%20A/metadata", 400],
])("answers %s with %i and a JSON message", async (path, expected) => {
  const { url } = await serve([libA]);
  const { status, text } = await ask(url, path);
  expect([status, typeof JSON.parse(text).message]).toEqual([expected, "string"]);
});

test("refuses another key, and all but GET, which are violations, until its records are cleared", async () => {
  const service = await serve([libA], { pathPrefix: "/v1" });
  expect(new URL(service.url).pathname).toBe("/v1");
  const headers = { "x-ss-api-key": "other" };
  expect(await ask(service.url, "/v1/libs", { headers })).toMatchObject({
    status: 401,
    text: '{"message":"Unauthorized"}',
  });
  expect((await ask(service.url, "/v1/libs", { method: "HEAD" })).status).toBe(405);
  expect((await ask(service.url, "/libs")).status).toBe(404);
  expect(service.requests).toMatchObject([
    { method: "GET", path: "/v1/libs", headers, status: 401, fault: null },
    { method: "HEAD", path: "/v1/libs", status: 405 },
    { method: "GET", path: "/libs", status: 404 },
  ]);
  expect(service.violations).toEqual(["HEAD /v1/libs: only GET may ever be sent"]);
  service.clearRequests();
  expect([service.requests, service.violations]).toEqual([[], []]);
});

test("an answer waits for onRequest and the latency, shows edits until then, and is dated by the clock", async () => {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const clock = () => new Date("2024-03-20T16:27:05.900Z");
  const service = await serve([libA], { onRequest: () => gate, latencyMs: 40, clock });
  const answered = ask(service.url, "/libs");
  await expect.poll(() => service.requests.length).toBe(1);
  service.edit((organization) => organization.remove("alice", "Lib A"));
  const released = performance.now();
  release();
  const { text, headers } = await answered;
  expect([text, headers.date]).toEqual(["[]", "Wed, 20 Mar 2024 16:27:05 GMT"]);
  expect(performance.now() - released).toBeGreaterThan(38);
});

test("stop closes idle, busy and silent sockets, twice if need be", async () => {
  const service = await serve([libA], { faults: [{ match: { path: "/silent" }, action: { kind: "hang" } }] });
  const agent = new Agent({ keepAlive: true });
  await ask(service.url, "/libs", { agent });
  const silent = ask(service.url, "/silent").catch(({ code }) => code);
  await expect.poll(() => service.requests.length).toBe(2);
  await service.stop();
  await service.stop();
  expect(await silent).toBe("ECONNRESET");
  await expect.poll(() => Object.keys(agent.freeSockets)).toEqual([]);
  await expect(ask(service.url, "/libs")).rejects.toThrow("ECONNREFUSED");
});

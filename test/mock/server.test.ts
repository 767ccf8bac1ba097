import { Agent } from "node:http";
import { expect, test } from "vitest";
import { changeLibrary } from "../support/mock/library.ts";
import { AWKWARD_NAMES, library, scenario } from "../support/organization.ts";
import { ask } from "./raw-client.ts";
import { serve } from "./service.ts";

const libA = library("alice", "Lib A", { scenarios: [1, scenario(2, { parentId: 1, description: "dry" })] });

test("lists libraries", async () => {
  const { url } = await serve([libA, library("bob", "Lib B", { lastModified: "2024-01-02 at 12:00 AM" })]);
  const { status, headers, text } = await ask(url, "/libs");
  expect(status).toBe(200);
  expect(headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(headers["content-length"]).toBe(String(text.length));
  expect(text).toBe(
    '[{"libraryName":"Lib A","uploadUser":"alice","lastModified":"2023-09-11 at 2:56 PM"},' +
      '{"libraryName":"Lib B","uploadUser":"bob","lastModified":"2024-01-02 at 12:00 AM"}]',
  );
});

test("answers metadata and scenarios with the fields of the specification", async () => {
  const { url } = await serve([libA]);
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
  ["/libs/user/alice/Lib A/metadata".replace(" ", "%20").replace("alice", "bob"), 404],
  ["/libs/", 404],
  ["//libs", 404],
  ["/v1/libs", 404],
  ["/libs/user/alice/Lib%20A", 404],
  ["/libs/user//Lib%20A/metadata", 404],
  ["/libs/user/alice/Lib%20A/metadata/", 404],
  ["/libs/user/alice/Lib%20A/maps", 404],
  ["/libs/user/alice/%zz/metadata", 400],
  ["/libs/user/alice/50%/metadata", 400],
  ["/libs/user/alice/%ff/metadata", 400],
  ['/libs/user/alice/"x"/metadata', 400],
  ["/libs/user/../Lib%20A/metadata", 400],
])("answers %s with %i and a JSON message", async (path, expected) => {
  const { url } = await serve([libA]);
  const { status, text } = await ask(url, path);
  expect([status, typeof JSON.parse(text).message]).toEqual([expected, "string"]);
});

test("asks for the key in the header", async () => {
  const service = await serve([libA]);
  const { status, text } = await ask(service.url, "/libs", { headers: { "x-ss-api-key": "other" } });
  expect([status, text]).toEqual([401, '{"message":"Unauthorized"}']);
  expect(service.requests.map((each) => each.status)).toEqual([401]);
});

test("refuses all but GET and says so in its violations", async () => {
  const service = await serve([libA]);
  expect((await ask(service.url, "/libs", { method: "DELETE" })).status).toBe(405);
  expect((await ask(service.url, "/libs", { method: "HEAD" })).status).toBe(405);
  expect(service.violations).toEqual([
    "DELETE /libs: only GET may ever be sent",
    "HEAD /libs: only GET may ever be sent",
  ]);
});

test("serves below a path prefix", async () => {
  const { url } = await serve([libA], { pathPrefix: "/v1" });
  expect(new URL(url).pathname).toBe("/v1");
  expect((await ask(url, "/v1/libs")).status).toBe(200);
  expect((await ask(url, "/libs")).status).toBe(404);
});

test("records requests with their headers until they are cleared", async () => {
  const service = await serve([libA]);
  await ask(service.url, "/libs", { headers: { "user-agent": "simcat/1" } });
  expect(service.requests).toMatchObject([
    { method: "GET", path: "/libs", headers: { "user-agent": "simcat/1" }, status: 200, fault: null },
  ]);
  service.clearRequests();
  expect(service.requests).toEqual([]);
});

test("an edit shows in the next answers", async () => {
  const service = await serve([libA]);
  await ask(service.url, "/libs/user/alice/Lib%20A/metadata");
  service.edit((organization) => changeLibrary(organization, "alice", "Lib A", { description: "new", scenarios: [] }));
  const answers = ["metadata", "scenarios"].map((kind) => ask(service.url, `/libs/user/alice/Lib%20A/${kind}`));
  const [metadata, scenarios] = await Promise.all(answers);
  expect(JSON.parse(metadata?.text ?? "").description).toBe("new");
  expect(scenarios?.text).toBe("[]");
});

test("its Date header is its clock's", async () => {
  const { url } = await serve([libA], { clock: () => new Date("2024-03-20T16:27:05.900Z") });
  expect((await ask(url, "/libs")).headers.date).toBe("Wed, 20 Mar 2024 16:27:05 GMT");
});

test("an answer waits for what onRequest returns", async () => {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const service = await serve([libA], { onRequest: () => gate });
  const answered = ask(service.url, "/libs");
  await expect.poll(() => service.requests.length).toBe(1);
  service.edit((organization) => organization.remove("alice", "Lib A"));
  release();
  expect((await answered).text).toBe("[]");
});

test("stop closes idle and busy sockets, twice if need be", async () => {
  const service = await serve([libA], {
    onRequest: ({ path }) => (path === "/silent" ? new Promise(() => {}) : undefined),
  });
  const agent = new Agent({ keepAlive: true });
  await ask(service.url, "/libs", { agent });
  const silent = ask(service.url, "/silent");
  await expect.poll(() => service.requests.length).toBe(2);
  await Promise.all([expect(silent).rejects.toThrow("socket hang up"), service.stop()]);
  await service.stop();
  await expect.poll(() => Object.keys(agent.freeSockets)).toEqual([]);
  await expect(ask(service.url, "/libs")).rejects.toThrow("ECONNREFUSED");
});

test("a fault that has no effect answers 500, so that no test passes for nothing", async () => {
  const { url } = await serve([libA], { faults: [{ action: { kind: "alterItem", index: 3, set: {} } }] });
  const { status, text } = await ask(url, "/libs/user/alice/Lib%20A/scenarios");
  expect([status, text]).toEqual([
    500,
    '{"message":"the mock could not do \\"alterItem\\": Error: the answer has no item 3"}',
  ]);
});

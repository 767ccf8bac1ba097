import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { startMockService } from "../../src/mock/mock-service.ts";
import { createOrganization, type Organization, organizationOf } from "../../src/mock/organization.ts";
import { API_KEY, serve } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";

/** One request by node:http, which sends a path as it is. */
async function ask(url: string, path: string, { method = "GET", key = API_KEY } = {}) {
  const { hostname, port } = new URL(url);
  const options = { hostname, port, path, method, agent: false, headers: { "x-ss-api-key": key } };
  const [answer] = (await once(request(options).end(), "response")) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, text: Buffer.concat(await answer.toArray()).toString() };
}

const libA = library("alice", "Lib A", { scenarios: [1, scenario(2, { parentId: 1, description: "dry" })] });

test("the mock of the tests answers metadata and scenarios with the fields of the specification", async () => {
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

test.each([
  ["/libs/user/bob/Lib%20A/metadata", 404],
  ["/v1/libs", 404],
  ["/libs/user/alice/Lib%20A/maps", 404],
  ["/libs/user/alice/%zz/metadata", 400],
  ["/libs/user/alice/%ff/metadata", 400],
  ['/libs/user/alice/"x"/metadata', 400],
  ["/libs/user/../Lib%20A/metadata", 400],
])("the mock of the tests answers %s with %i and a JSON message", async (path, expected) => {
  const { url } = await serve([libA]);
  const { status, text } = await ask(url, path);
  expect([status, typeof JSON.parse(text).message]).toEqual([expected, "string"]);
});

test("the mock of the tests refuses all but GET and says so in its violations", async () => {
  const service = await serve([libA]);
  expect((await ask(service.url, "/libs", { method: "DELETE" })).status).toBe(405);
  expect((await ask(service.url, "/libs", { method: "HEAD" })).status).toBe(405);
  expect(service.violations).toEqual([
    "DELETE /libs: only GET may ever be sent",
    "HEAD /libs: only GET may ever be sent",
  ]);
});

/** The service of `simcat mock`, until the test is over. */
async function start(organization: Organization, options: { port?: number; seed?: number; editEvery?: number } = {}) {
  const service = await startMockService({ organization, apiKey: API_KEY, ...options });
  onTestFinished(() => service.stop());
  return service;
}

test("simcat mock answers with JSON, and refuses another key", async () => {
  const { url } = await start(organizationOf([libA]));
  const { status, headers, text } = await ask(url, "/libs/user/alice/Lib%20A/metadata");
  expect([status, JSON.parse(text).libraryName]).toEqual([200, "Lib A"]);
  expect(headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-length": String(text.length),
    date: expect.stringMatching(/ GMT$/),
  });
  const refused = await ask(url, "/libs", { key: "other" });
  expect([refused.status, refused.text]).toEqual([401, '{"message":"Unauthorized"}']);
});

test("simcat mock edits on a timer until it is stopped; the same seed makes the same edits", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"], now: new Date("2025-06-01T12:34:00Z") });
  onTestFinished(() => void vi.useRealTimers());
  async function play(seed: number) {
    const organization = createOrganization({ seed: 1, libraries: 8, scenariosPerLibrary: 5, now: new Date() });
    const { stop } = await start(organization, { seed, editEvery: 1_000 });
    for (let tick = 0; tick < 20; tick++) {
      const before = organization.libraries();
      vi.advanceTimersByTime(1_000);
      expect(organization.libraries()).not.toBe(before);
    }
    const edited = organization.libraries();
    await stop();
    vi.advanceTimersByTime(20_000);
    expect(organization.libraries()).toBe(edited);
    vi.setSystemTime(new Date("2025-06-01T12:34:00Z"));
    return organization.libraries();
  }
  const first = await play(1);
  expect(await play(1)).toEqual(first);
  expect(await play(2)).not.toEqual(first);
});

test("simcat mock does not edit without an interval, and rejects if its port is taken", async () => {
  const organization = organizationOf([libA]);
  const { url } = await start(organization);
  await expect(start(organization, { port: Number(new URL(url).port) })).rejects.toMatchObject({ code: "EADDRINUSE" });
  expect(organization.libraries()).toEqual([libA]);
});

import { expect, onTestFinished, test, vi } from "vitest";
import { createOrganization, type Organization, organizationOf } from "../../src/mock/organization.ts";
import { startMockService } from "../../src/mock/server.ts";
import { API_KEY } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { ask } from "./raw-client.ts";

/** The service of `simcat mock`, until the test is over. */
async function start(organization: Organization, options: { port?: number; seed?: number; editEvery?: number } = {}) {
  const service = await startMockService({ organization, apiKey: API_KEY, ...options });
  onTestFinished(() => service.stop());
  return service;
}

const libA = library("alice", "Lib A", { scenarios: [1] });

test("answers with JSON, and refuses another key", async () => {
  const { url } = await start(organizationOf([libA]));
  const { status, headers, text } = await ask(url, "/libs/user/alice/Lib%20A/metadata");
  expect([status, JSON.parse(text).libraryName]).toEqual([200, "Lib A"]);
  expect(headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-length": String(text.length),
    date: expect.stringMatching(/ GMT$/),
  });
  const refused = await ask(url, "/libs", { headers: { "x-ss-api-key": "other" } });
  expect([refused.status, refused.text]).toEqual([401, '{"message":"Unauthorized"}']);
});

test("edits on a timer until it is stopped; the same seed makes the same edits", async () => {
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

test("does not edit without an interval, and rejects if its port is taken", async () => {
  const organization = organizationOf([libA]);
  const { url } = await start(organization);
  await expect(start(organization, { port: Number(new URL(url).port) })).rejects.toMatchObject({ code: "EADDRINUSE" });
  expect(organization.libraries()).toEqual([libA]);
});

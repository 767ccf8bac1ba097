import { describe, expect, it } from "vitest";
import { failureOf, LISTING, never, open, serve, serveStatus } from "./service-under-test.ts";

describe("a listing", () => {
  it("is returned with the time of its request", async () => {
    const server = await serve((_, response) => response.end(LISTING));
    const before = performance.now();
    const { startedAt, libraries, ...listing } = await open(server.url).listLibraries(never);
    expect({ libraries: [...libraries], ...listing }).toEqual({
      libraries: [
        { key: { owner: "ada", name: "Forest" }, lastModified: "2023-09-11 at 2:56 PM", source: LISTING.slice(1, -1) },
      ],
      rejects: [],
      incomplete: null,
      repeated: 0,
      cachedMs: 0,
      date: expect.any(Number),
    });
    expect([before <= startedAt, startedAt <= performance.now()]).toEqual([true, true]);
  });

  it("is a truncated answer if it is only a byte order mark", async () => {
    const server = await serve((_, response) =>
      response.writeHead(200, { connection: "close" }).write("\ufeff", () => response.destroy()),
    );
    await expect(open(server.url, { maxRetries: 0 }).listLibraries(never)).rejects.toThrow("was cut short");
  });

  it("is incomplete when it was paged", async () => {
    const link = ['</v1/libs?page=1>; rel="prev"', '</v1/libs?page=3>; rel="next"'];
    const server = await serveStatus(200, { link }, LISTING);
    const listing = await open(server.url).listLibraries(never);
    const reason =
      "the service sent only one page of its list (Link: rel=next), and simcat knows no way to ask for the rest";
    expect(listing.incomplete).toBe(reason);
    expect(listing.rejects).toEqual([
      { key: null, kind: "listing", code: "paged_answer", path: "", reason, payload: link.join(", ") },
    ]);
    expect(listing.libraries).toHaveLength(1);
  });
});

describe("a listing that cannot be from the service", () => {
  it("reports the URL and the likely mistakes for a 404 (fault 15)", async () => {
    const server = await serveStatus(404, {}, "no such\npage");
    const error = await failureOf(open(server.url).listLibraries(never));
    expect(error.message).toBe(
      `GET /libs answered 404 (asked ${server.url}libs; it said "no such\\u000apage"); ` +
        `check SIMCAT_BASE_URL (${server.url}): is it the service's, with this version?`,
    );
  });

  it.each([
    ["v1/", 404, "): is it the service's, with this version?"],
    ["api/v2beta", 404, "): is it the service's, with this version?"],
    ["v1/libs", 404, "remove /libs from SIMCAT_BASE_URL ("],
    ["v1/libs/", 400, "remove /libs from SIMCAT_BASE_URL ("],
    ["v1/libs/user", 404, "remove /libs/user from SIMCAT_BASE_URL ("],
    ["v1/libs/user/ann/Lake/metadata", 404, "remove /libs/user/ann/Lake/metadata from SIMCAT_BASE_URL ("],
    ["libs", 200, "remove /libs from SIMCAT_BASE_URL ("],
    ["v1/libs", 403, "remove /libs from SIMCAT_BASE_URL ("],
    ["v1/libsearch", 404, "does it end with the version, such as /v1/?"],
  ])("reports the mistake in the base URL /%s that is answered with %i (fault 114)", async (path, status, said) => {
    const server = await serveStatus(status, {}, "no");
    const error = await failureOf(open(new URL(`/${path}`, server.url)).listLibraries(never));
    expect(error.message).toContain(said);
    expect(error.message.includes("remove")).toBe(said.startsWith("remove"));
  });

  it("reports the base URL without the path that simcat adds (fault 114)", async () => {
    const server = await serveStatus(404);
    const error = await failureOf(open(new URL("/v1/libs/", server.url)).listLibraries(never));
    expect(error.message).toContain(
      `; remove /libs from SIMCAT_BASE_URL (${server.url}libs/), because simcat adds it: ${server.url}`,
    );
  });
});

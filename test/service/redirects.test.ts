import { describe, expect, it } from "vitest";
import { SourceUntrustedError } from "../../src/errors.ts";
import { failureOf, LISTING, never, open, serve, serveStatus } from "./service-under-test.ts";

describe("a redirect", () => {
  it.each([300, 301, 302, 303, 304, 305, 307, 308])(
    "with %i to another host is not followed (fault 8)",
    async (status) => {
      const other = await serveStatus(200, {}, LISTING);
      const server = await serveStatus(status, { location: `${other.url}libs` });
      const error = await failureOf(open(server.url).listLibraries(never));
      expect(error).toBeInstanceOf(SourceUntrustedError);
      expect(error.message).toBe(
        `GET /libs answered ${status}, a redirect to 127.0.0.1:${other.port} (asked ${server.url}libs); ` +
          "it was not followed, so that the key stays here; set SIMCAT_BASE_URL to the service itself",
      );
      expect([server.targets.length, other.targets.length]).toEqual([1, 0]);
    },
  );

  it.each([
    ["without a Location", undefined, "a redirect without a Location"],
    ["to itself", "/v1/libs", "a redirect to 127.0.0.1"],
    ["to nowhere", "http://[", "a redirect to http://["],
    ["that could forge an escape", "http://[\u009b2J", "a redirect to http://["],
  ])("%s takes one request (fault 8)", async (_, location, said) => {
    const server = await serve((_request, response) => {
      response.statusCode = 302;
      if (location === undefined) response.end();
      else response.socket?.write(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`);
    });
    const error = await failureOf(open(server.url).listLibraries(never));
    expect(error.message).toContain(said);
    expect(error.message).not.toContain("\u009b");
    expect(server.targets).toHaveLength(1);
  });
});

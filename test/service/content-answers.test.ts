import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Service } from "../../src/service/client.ts";
import {
  collect,
  failureOf,
  KEY,
  LIBRARY,
  LISTING,
  METADATA,
  never,
  open,
  SCENARIOS,
  serve,
  serveWell,
} from "./service-under-test.ts";

describe("a library's content", () => {
  it("is dated by the earlier of its two requests", async () => {
    const server = await serveWell();
    const { sentAt } = await open(server.url, { concurrency: 1 }).readContent(LIBRARY, collect(), never);
    expect(server.arrivals).toHaveLength(2);
    expect(sentAt).toBeLessThanOrEqual(server.arrivals[0] ?? 0);
  });

  it("has the same digest for the same bytes in any encoding, and another for other bytes", async () => {
    const digest = async (metadata: string, scenarios: string, isZipped = false) => {
      const server = await serve((request, response) => {
        const body = request.url?.endsWith("/metadata") ? metadata : scenarios;
        if (!isZipped) response.end(body);
        else response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(body));
      });
      return (await open(server.url).readContent(LIBRARY, collect(), never)).digest;
    };
    const first = await digest(METADATA, SCENARIOS);
    expect(first).toMatch(/^[\da-f]{64}$/);
    expect(await digest(METADATA, SCENARIOS, true)).toBe(first);
    const others = [await digest(METADATA, `${SCENARIOS} `), await digest(`${METADATA} `, SCENARIOS)];
    expect(new Set([first, ...others]).size).toBe(3);
  });

  it("reports that a scenario list was paged, without the key", async () => {
    const server = await serveWell((request, response) => {
      if (request.url?.endsWith("/scenarios")) response.setHeader("link", `</v1/x?key=${KEY}>; rel=next`);
      return false;
    });
    const { rejects, items } = await open(server.url).readContent(LIBRARY, collect(), never);
    expect(items).toBe(2);
    expect(rejects).toEqual([
      {
        key: LIBRARY,
        kind: "scenario",
        code: "paged_answer",
        path: "",
        reason: "the service sent only one page of the scenarios, and simcat knows no way to ask for the rest",
        payload: "</v1/x?key=***>; rel=next",
      },
    ]);
  });
});

it("a library's content that is unavailable aborts the other request when one has failed permanently", async () => {
  const server = await serve((request, response) => {
    response.statusCode = request.url?.endsWith("/metadata") ? 404 : 503;
    response.end();
  });
  const service = open(server.url, { timing: { backoffBaseMs: 60_000, maxBackoffMs: 60_000 } });
  const error = await failureOf(service.readContent(LIBRARY, collect(), never));
  expect(error.code).toBe("not_found");
  expect(server.targets.length).toBeLessThanOrEqual(2);
});

describe("an error of the sink", () => {
  const failure = Object.assign(new Error("the database is gone"), { code: "ECONNRESET" });

  it.each(["restart", "add", "finish"])("on %s is passed on unchanged and not retried", async (call) => {
    const server = await serveWell();
    const sink = { ...collect(), [call]: () => Promise.reject(failure) };
    const service = open(server.url);
    expect(await failureOf(service.readContent(LIBRARY, sink, never))).toBe(failure);
    expect(service.counters().retries).toBe(0);
  });
});

describe("a library that answers 401", () => {
  /** A server whose listing answers as told, and whose content answers 401. */
  const serveRefusing = (list: (response: ServerResponse, count: number) => void) => {
    let count = 0;
    return serve((request, response) => {
      if (request.url === "/v1/libs") list(response, ++count);
      else response.writeHead(401).end();
    });
  };
  const codeOf = async (service: Service) => (await failureOf(service.readContent(LIBRARY, collect(), never))).name;

  it.each([
    [200, "ContentError"],
    [401, "UnauthorizedError"],
    [403, "UnauthorizedError"],
    [404, "ContentError"],
    [302, "ContentError"],
    [500, "ContentError"],
  ])("and a listing that answers %i: %s", async (status, expected) => {
    const server = await serveRefusing((response) => response.writeHead(status).end("<html>whatever"));
    expect(await codeOf(open(server.url, { maxRetries: 1 }))).toBe(expected);
  });

  it("does not wait for the body of the listing", async () => {
    const server = await serveRefusing((response) => response.writeHead(200).write("["));
    expect(await codeOf(open(server.url))).toBe("ContentError");
  });

  it("asks for the listing again after a minute", async () => {
    const server = await serveRefusing((response, count) => response.writeHead(count === 1 ? 200 : 401).end(LISTING));
    const service = open(server.url, { timing: { confirmEveryMs: 0 } });
    expect([await codeOf(service), await codeOf(service)]).toEqual(["ContentError", "UnauthorizedError"]);
  });

  it("asks for the listing once in a minute, and again if the first caller was aborted", async () => {
    const caller = new AbortController();
    const server = await serveRefusing((response, count) => {
      if (count === 1) caller.abort(new Error("SIGTERM"));
      else response.writeHead(count === 2 ? 401 : 200).end(LISTING);
    });
    const service = open(server.url);
    await failureOf(service.readContent(LIBRARY, collect(), caller.signal));
    expect([await codeOf(service), await codeOf(service)]).toEqual(["UnauthorizedError", "UnauthorizedError"]);
  });
});

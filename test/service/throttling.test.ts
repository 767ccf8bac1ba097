import { createServer } from "node:https";
import { describe, expect, it, onTestFinished } from "vitest";
import { ContentError, SourceUnavailableError } from "../../src/errors.ts";
import type { Service } from "../../src/service/client.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "./certificate.ts";
import {
  collect,
  failureOf,
  goodBody,
  LISTING,
  library,
  listen,
  never,
  open,
  type Running,
  serve,
  serveStatus,
  serveWell,
} from "./service-under-test.ts";

const read = (service: Service, name: string) => service.readContent(library(name), collect(), never);
const names = (count: number) => Array.from({ length: count }, (_, i) => `L${i}`);

/** Answers the given number of first requests with a status and headers, and all others with success. */
function serveLate(first: number, status: number, headers: Record<string, string>): Promise<Running> {
  let left = first;
  return serveWell((_, response) => {
    if (left === 0) return false;
    left--;
    response.writeHead(status, headers).end();
    return true;
  });
}

describe("Retry-After", () => {
  it("on a 429 delays every request, including the queued ones (fault 18)", async () => {
    const server = await serveLate(1, 429, { "retry-after": "1" });
    const service = open(server.url, { concurrency: 1 });
    await Promise.all(names(5).map((name) => read(service, name)));
    expect(server.targets).toHaveLength(11);
    const [first = Number.NaN, ...later] = server.arrivals;
    expect(later.every((at) => at >= first + 1000)).toBe(true);
    expect(service.events.filter(({ kind }) => kind === "throttled")).toEqual([
      { kind: "throttled", operation: "metadata", waitMs: 1000 },
    ]);
  });

  it.each([503, 500, 408])("on a %i of one library delays only that library (fault 18)", async (status) => {
    const server = await serveLate(1, status, { "retry-after": "2" });
    const service = open(server.url, { concurrency: 1 });
    const ended: string[] = [];
    await Promise.all(names(5).map((name) => read(service, name).then(() => ended.push(name))));
    expect(server.targets).toHaveLength(11);
    const [first = Number.NaN, ...again] = server.arrivals.filter((_, i) => server.targets[i]?.includes("/L0/"));
    expect(again).toHaveLength(2);
    expect(again.every((at) => at >= first + 2000)).toBe(true);
    expect(ended).toEqual(["L1", "L2", "L3", "L4", "L0"]);
    expect(service.events.some(({ kind }) => kind === "throttled")).toBe(false);
  });

  it("on a 503 delays every request once a second library receives it too (fault 18)", async () => {
    let askedAt = 0;
    const asked = new Set<string>();
    const server = await serveWell((request, response) => {
      const name = request.url?.split("/").at(-2) ?? "";
      if (asked.has(name) || asked.size === 2) return false;
      asked.add(name);
      askedAt = performance.now();
      response.writeHead(503, { "retry-after": "1" }).end();
      return true;
    });
    const service = open(server.url, { concurrency: 1 });
    await Promise.all(names(5).map((name) => read(service, name)));
    // Both requests of the first library wait for the same time, so its list is not requested in between.
    expect(server.targets.slice(0, 2).map((target) => target.split("/").at(-2))).toEqual(["L0", "L1"]);
    expect(server.targets).toHaveLength(12);
    expect(server.arrivals.slice(2).every((at) => at >= askedAt + 1000)).toBe(true);
    expect(service.events.filter(({ kind }) => kind === "throttled")).toHaveLength(1);
  });

  it("delays a request whose connection is established later", async () => {
    const checked = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    onTestFinished(() => {
      process.env.NODE_TLS_REJECT_UNAUTHORIZED = checked ?? "1";
    });
    const arrivals: number[] = [];
    let askedAt = 0;
    let handshakes = 0;
    let shakeHands = () => {};
    let secondCame = () => {};
    const second = new Promise<void>((resolve) => {
      secondCame = resolve;
    });
    const server = createServer({
      cert: CERTIFICATE,
      key: CERTIFICATE_KEY,
      SNICallback(_, done) {
        handshakes++;
        if (handshakes !== 2) {
          done(null);
          return;
        }
        shakeHands = () => done(null);
        secondCame();
      },
    });
    server.on("request", async (_, response) => {
      arrivals.push(performance.now());
      if (arrivals.length > 1) {
        response.end(LISTING);
        return;
      }
      await second;
      askedAt = performance.now();
      response.writeHead(429, { "retry-after": "1" }).end();
    });
    const port = await listen(server);
    const service = open(new URL(`https://localhost:${port}/v1/`), {
      onEvent: ({ kind }) => kind === "throttled" && shakeHands(),
    });
    await Promise.all([service.listLibraries(never), service.listLibraries(never)]);
    expect(handshakes).toBeGreaterThanOrEqual(2);
    expect(arrivals).toHaveLength(3);
    expect(arrivals.slice(1).every((at) => at >= askedAt + 1000)).toBe(true);
    expect(service.counters()).toMatchObject({ requests: 3, retries: 1 });
  });

  it("is respected only on statuses that are retried", async () => {
    const server = await serveLate(1, 404, { "retry-after": "3600" });
    const service = open(server.url, { concurrency: 1 });
    expect(await failureOf(read(service, "gone"))).toMatchObject({
      code: "not_found",
    });
    expect((await read(service, "here")).items).toBe(2);
  });

  it.each([429, 503, 500])(
    "of exactly the maximum is respected on the listing, a longer one ends the run: %i",
    async (status) => {
      const exact = await serveLate(1, status, { "retry-after": "1" });
      expect((await open(exact.url, { maxRetryWaitMs: 1000 }).listLibraries(never)).libraries).toHaveLength(1);
      const server = await serveLate(1, status, { "retry-after": "2" });
      const error = await failureOf(open(server.url, { maxRetryWaitMs: 1999 }).listLibraries(never));
      expect(error).toBeInstanceOf(SourceUnavailableError);
      expect(error.message).toBe(
        `GET /libs answered ${status} (asked ${server.url}libs) and asked to wait 2 s, longer than SIMCAT_MAX_RETRY_WAIT (2 s); run again later`,
      );
      expect(server.targets).toHaveLength(1);
    },
  );

  it("of more than the maximum ends the run on content with a 429, and fails one library with a 503", async () => {
    const limited = await serveStatus(429, { "retry-after": "3600" });
    const error = await failureOf(read(open(limited.url, { concurrency: 1 }), "L"));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toContain("asked to wait 3600 s, longer than SIMCAT_MAX_RETRY_WAIT (60 s)");
    expect(limited.targets).toHaveLength(1);

    const server = await serveLate(1, 503, { "retry-after": "3600" });
    const service = open(server.url, { concurrency: 1 });
    const failed = await failureOf(read(service, "L"));
    expect(failed).toBeInstanceOf(ContentError);
    expect(failed).toMatchObject({ code: "server_error" });
    expect(failed.message).toContain("asked to wait 3600 s");
    expect((await read(service, "M")).items).toBe(2);
  });
});

describe("throttling", () => {
  it.each([429, 503])("counts no attempt on content while other requests succeed: %i", async (status) => {
    let refusals = 0;
    let others = 0;
    let refuse: (() => void)[] = [];
    const server = await serveWell((request, response) => {
      if (!request.url?.includes("Slow")) {
        // The four requests belong to two libraries, read one after the other: one succeeded since the last refusal.
        if (++others % 4 > 0) return false;
        for (const one of refuse) one();
        refuse = [];
        return false;
      }
      if (refusals === 40) return false;
      refusals++;
      response.statusCode = status;
      refuse.push(() => response.end());
      return true;
    });
    const service = open(server.url, { maxRetries: 1, timing: { maxBackoffMs: 2 } });
    let done = false;
    const slow = read(service, "Slow").finally(() => {
      done = true;
    });
    for (let i = 0; !done && i < 5000; i++) await read(service, `Good${i}`);
    expect((await slow).items).toBe(2);
    expect(refusals).toBe(40);
  });

  it("counts no attempt when other requests succeeded during the wait", async () => {
    const whenAsked: (() => void)[] = [];
    let metadata = 0;
    const server = await serveWell((request, response) => {
      const target = request.url ?? "";
      if (target.endsWith("/scenarios")) {
        // In flight throughout, and answered in the middle of the first wait.
        whenAsked.push(() => setTimeout(() => response.end(goodBody(target)), 100));
        return true;
      }
      if (!target.endsWith("/metadata") || ++metadata === 3) return false;
      response.statusCode = 429;
      if (metadata === 2) response.end();
      else whenAsked.push(() => response.setHeader("retry-after", "1").end());
      return true;
    });
    const service = open(server.url, { maxRetries: 0 });
    const slow = read(service, "Slow");
    await service.listLibraries(never);
    while (whenAsked.length < 2) await new Promise((resolve) => setImmediate(resolve));
    for (const act of whenAsked) act();
    expect((await slow).items).toBe(2);
    expect(metadata).toBe(3);
  });

  it("counts attempts while no request succeeds", async () => {
    const server = await serveStatus(429);
    const service = open(server.url, { maxRetries: 2, concurrency: 1 });
    const error = await failureOf(read(service, "L"));
    expect(error).toMatchObject({ code: "throttled" });
    expect(error.message).toContain("answered 429 after 3 attempts");
  });

  it("ends the run when no request has succeeded for too long", async () => {
    const server = await serveStatus(429);
    const service = open(server.url, { maxRetries: 10_000, timing: { maxThrottledMs: 100, maxBackoffMs: 5 } });
    const before = performance.now();
    const error = await failureOf(read(service, "L"));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toContain("for 100 ms the service has asked to wait, and no request has succeeded since");
    expect(performance.now() - before).toBeGreaterThanOrEqual(100);
  });

  it("ends the run even during a wait", async () => {
    const server = await serveStatus(503, { "retry-after": "30" });
    const service = open(server.url, { timing: { maxThrottledMs: 50 } });
    const error = await failureOf(read(service, "L"));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(server.targets.length).toBeLessThanOrEqual(2);
  });
});

/** Admits requests as nginx's `limit_req` with `nodelay` does: a leaky bucket that refused requests do not fill. */
function leakyBucket(perSecond: number, burst: number): () => boolean {
  let excess = 0;
  let last: number | null = null;
  return () => {
    const now = performance.now();
    const next = last === null ? 0 : Math.max(0, excess - ((now - last) * perSecond) / 1000 + 1);
    if (next > burst) return false;
    excess = next;
    last = now;
    return true;
  };
}

describe("a rate limit without Retry-After", () => {
  it.each([429, 503])("fails no library and costs few requests: %i", async (status) => {
    const readAll = async (burst: number) => {
      const admits = leakyBucket(100, burst);
      const server = await serveWell((_, response) => {
        if (admits()) return false;
        response.writeHead(status).end();
        return true;
      });
      const service = open(server.url, { timing: { backoffBaseMs: 250 } });
      await service.listLibraries(never);
      const queue = names(200).values();
      let libraries = 0;
      const work = async () => {
        for (const name of queue) {
          await read(service, name);
          libraries++;
        }
      };
      await Promise.all(names(16).map(work));
      expect(libraries).toBe(200);
      expect(service.counters().throttled).toBe(server.targets.length - 401);
      return server.targets.length;
    };
    const requests = await Promise.all([0, 5, 20].map(readAll));
    expect(Math.max(...requests)).toBeLessThanOrEqual(401 * 1.2);
  });
});

describe("requests in flight", () => {
  it.each([7, 1])("reach a concurrency of %i and do not exceed it", async (concurrency) => {
    let inFlight = 0;
    let most = 0;
    const server = await serve((request, response) => {
      inFlight++;
      most = Math.max(most, inFlight);
      setTimeout(() => {
        inFlight--;
        response.end(goodBody(request.url ?? ""));
      }, 3);
    });
    const service = open(server.url, { concurrency });
    await Promise.all(names(60).map((name) => read(service, name)));
    expect(most).toBe(concurrency);
  });

  it("start no faster than the rate allows, retries included", async () => {
    const server = await serve((_, response) => {
      if (server.targets.length % 2 === 1) response.statusCode = 500;
      response.end(LISTING);
    });
    const service = open(server.url, { maxRps: 50 });
    const before = performance.now();
    await Promise.all([1, 2, 3, 4].map(() => service.listLibraries(never)));
    expect(server.targets).toHaveLength(8);
    expect(server.arrivals.every((at, i) => at - before >= i * 20)).toBe(true);
  });
});

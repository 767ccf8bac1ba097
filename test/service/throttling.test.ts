import { createServer } from "node:https";
import { describe, expect, it, onTestFinished } from "vitest";
import { ContentError, SourceUnavailableError } from "../../src/errors.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "./certificate.ts";
import {
  collect,
  failureOf,
  goodBody,
  LISTING,
  never,
  open,
  type Running,
  serve,
  serveWell,
} from "./service-under-test.ts";

const library = (name: string) => ({ owner: "ada", name });
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
    await Promise.all(names(5).map((name) => service.readContent(library(name), collect(), never)));
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
    await Promise.all(
      names(5).map(async (name) => {
        await service.readContent(library(name), collect(), never);
        ended.push(name);
      }),
    );
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
    await Promise.all(names(5).map((name) => service.readContent(library(name), collect(), never)));
    // Both requests of the first library wait for the same time, so its list is not requested in between.
    expect(server.targets.slice(0, 2).map((target) => target.split("/").at(-2))).toEqual(["L0", "L1"]);
    expect(server.targets).toHaveLength(12);
    expect(server.arrivals.slice(2).every((at) => at >= askedAt + 1000)).toBe(true);
    expect(service.events.filter(({ kind }) => kind === "throttled")).toHaveLength(1);
  });

  it("delays a request whose connection is established later", async () => {
    const checked = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
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
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      process.env.NODE_TLS_REJECT_UNAUTHORIZED = checked ?? "1";
      server.closeAllConnections();
      server.close();
    });
    const address = server.address();
    const port = typeof address === "object" ? address?.port : 0;
    const service = open(new URL(`https://localhost:${port}/v1/`), {
      onEvent: ({ kind }) => kind === "throttled" && shakeHands(),
    });
    await Promise.all([service.listLibraries(never), service.listLibraries(never)]);
    expect(handshakes).toBeGreaterThanOrEqual(2);
    expect(arrivals).toHaveLength(3);
    expect(arrivals.slice(1).every((at) => at >= askedAt + 1000)).toBe(true);
    expect(service.counters()).toMatchObject({ requests: 3, retries: 1 });
  });

  it("as a date is respected as well (fault 19)", async () => {
    let askedAt = 0;
    const server = await serveWell((_, response) => {
      if (askedAt > 0) return false;
      askedAt = performance.now();
      const now = Date.now();
      response.sendDate = false;
      response
        .writeHead(503, {
          date: new Date(now).toUTCString(),
          "retry-after": new Date(now + 1000).toUTCString(),
        })
        .end();
      return true;
    });
    await open(server.url).listLibraries(never);
    expect(server.arrivals[1]).toBeGreaterThanOrEqual(askedAt + 1000);
  });

  it.each(["0", "-5", "1.5", "soon", new Date(Date.now() - 60_000).toUTCString()])(
    "of %j is replaced by the default back-off (fault 19)",
    async (value) => {
      const server = await serveLate(3, 429, { "retry-after": value });
      const service = open(server.url);
      await service.listLibraries(never);
      expect(server.targets).toHaveLength(4);
      expect(service.events.some(({ kind }) => kind === "throttled")).toBe(false);
      const delays = service.events.map((event) => (event.kind === "retry" ? event.delayMs : 0));
      expect(Math.max(...delays)).toBeLessThan(8);
    },
  );

  it("is respected only on statuses that are retried", async () => {
    const server = await serveLate(1, 404, { "retry-after": "3600" });
    const service = open(server.url, { concurrency: 1 });
    expect(await failureOf(service.readContent(library("gone"), collect(), never))).toMatchObject({
      code: "not_found",
    });
    expect((await service.readContent(library("here"), collect(), never)).items).toBe(2);
  });

  it("of exactly the maximum is respected", async () => {
    const server = await serveLate(1, 429, { "retry-after": "1" });
    expect((await open(server.url, { maxRetryWaitMs: 1000 }).listLibraries(never)).libraries).toHaveLength(1);
  });

  it.each([429, 503, 500])("of more than the maximum ends the run on the listing: %i", async (status) => {
    const server = await serveLate(1, status, { "retry-after": "2" });
    const error = await failureOf(open(server.url, { maxRetryWaitMs: 1999 }).listLibraries(never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toBe(
      `GET /libs answered ${status} (asked ${server.url}libs) and asked to wait 2 s, longer than SIMCAT_MAX_RETRY_WAIT (2 s); run again later`,
    );
    expect(server.targets).toHaveLength(1);
  });

  it("of more than the maximum ends the run on content with a 429", async () => {
    const server = await serve((_, response) => {
      response.writeHead(429, { "retry-after": "3600" }).end();
    });
    const error = await failureOf(open(server.url, { concurrency: 1 }).readContent(library("L"), collect(), never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toContain("asked to wait 3600 s, longer than SIMCAT_MAX_RETRY_WAIT (60 s)");
    expect(server.targets).toHaveLength(1);
  });

  it("of more than the maximum fails one library on content with a 503, and delays no other", async () => {
    const server = await serveLate(1, 503, { "retry-after": "3600" });
    const service = open(server.url, { concurrency: 1 });
    const error = await failureOf(service.readContent(library("L"), collect(), never));
    expect(error).toBeInstanceOf(ContentError);
    expect(error).toMatchObject({ code: "server_error" });
    expect(error.message).toContain("asked to wait 3600 s");
    expect((await service.readContent(library("M"), collect(), never)).items).toBe(2);
  });
});

describe("throttling", () => {
  it("without Retry-After increases the wait, with jitter (fault 19)", async () => {
    const server = await serveLate(4, 429, {});
    const service = open(server.url, { timing: { backoffBaseMs: 8 } });
    await service.listLibraries(never);
    const delays = service.events.flatMap((event) => (event.kind === "retry" ? [event.delayMs] : []));
    expect(delays).toHaveLength(4);
    expect(delays.every((delay, i) => delay <= 8 * 2 ** i)).toBe(true);
    expect(new Set(delays).size).toBe(4);
  });

  it("counts no attempt on content while other requests succeed", async () => {
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
      response.statusCode = 429;
      refuse.push(() => response.end());
      return true;
    });
    const service = open(server.url, { maxRetries: 1, timing: { maxBackoffMs: 2 } });
    let done = false;
    const slow = service.readContent(library("Slow"), collect(), never).finally(() => {
      done = true;
    });
    for (let i = 0; !done && i < 5000; i++) await service.readContent(library(`Good${i}`), collect(), never);
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
    const slow = service.readContent(library("Slow"), collect(), never);
    await service.listLibraries(never);
    while (whenAsked.length < 2) await new Promise((resolve) => setImmediate(resolve));
    for (const act of whenAsked) act();
    expect((await slow).items).toBe(2);
    expect(metadata).toBe(3);
  });

  it("counts attempts while no request succeeds", async () => {
    const server = await serve((_, response) => {
      response.writeHead(429).end();
    });
    const service = open(server.url, { maxRetries: 2, concurrency: 1 });
    const error = await failureOf(service.readContent(library("L"), collect(), never));
    expect(error).toMatchObject({ code: "throttled" });
    expect(error.message).toContain("answered 429 after 3 attempts");
  });

  it("ends the run when no request has succeeded for too long", async () => {
    const server = await serve((_, response) => {
      response.writeHead(429).end();
    });
    const service = open(server.url, { maxRetries: 10_000, timing: { maxThrottledMs: 100, maxBackoffMs: 5 } });
    const before = performance.now();
    const error = await failureOf(service.readContent(library("L"), collect(), never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(error.message).toContain("for 100 ms the service has asked to wait, and no request has succeeded since");
    expect(performance.now() - before).toBeGreaterThanOrEqual(100);
  });

  it("ends the run even during a wait", async () => {
    const server = await serve((_, response) => {
      response.writeHead(503, { "retry-after": "30" }).end();
    });
    const service = open(server.url, { timing: { maxThrottledMs: 50 } });
    const error = await failureOf(service.readContent(library("L"), collect(), never));
    expect(error).toBeInstanceOf(SourceUnavailableError);
    expect(server.targets.length).toBeLessThanOrEqual(2);
  });

  it("loses no library at a service that accepts two requests at a time", async () => {
    let inFlight = 0;
    let refused = 0;
    const server = await serve((request, response) => {
      if (inFlight >= 2) {
        refused++;
        response.writeHead(429).end();
        return;
      }
      inFlight++;
      setTimeout(() => {
        inFlight--;
        response.end(goodBody(request.url ?? ""));
      }, 2);
    });
    const service = open(server.url, { timing: { cutEveryMs: 5 } });
    const reads = await Promise.all(names(60).map((name) => service.readContent(library(name), collect(), never)));
    expect(reads.every(({ items }) => items === 2)).toBe(true);
    expect(refused).toBeGreaterThan(0);
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
      const read: string[] = [];
      const work = async () => {
        for (const name of queue) {
          await service.readContent(library(name), collect(), never);
          read.push(name);
        }
      };
      await Promise.all(names(16).map(work));
      expect(read).toHaveLength(200);
      expect(service.counters().throttled).toBe(server.targets.length - 401);
      return server.targets.length;
    };
    const requests = await Promise.all([0, 5, 20].map(readAll));
    expect(Math.max(...requests)).toBeLessThanOrEqual(401 * 1.2);
  });

  it("of 503 counts no attempt on content while other requests succeed", async () => {
    let refusals = 0;
    const server = await serveWell((request, response) => {
      if (!request.url?.endsWith("/Slow/metadata") || refusals === 12) return false;
      refusals++;
      response.writeHead(503).end();
      return true;
    });
    const service = open(server.url, { maxRetries: 1, timing: { backoffBaseMs: 20, maxBackoffMs: 20 } });
    let done = false;
    const slow = service.readContent(library("Slow"), collect(), never).finally(() => {
      done = true;
    });
    for (let i = 0; !done; i++) await service.readContent(library(`Good${i}`), collect(), never);
    expect((await slow).items).toBe(2);
    expect(refusals).toBe(12);
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
    await Promise.all(names(60).map((name) => service.readContent(library(name), collect(), never)));
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

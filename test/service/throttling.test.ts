import { createServer } from "node:https";
import { describe, expect, it, onTestFinished } from "vitest";
import { SourceUnavailableError } from "../../src/errors.ts";
import type { Service } from "../../src/service/client.ts";
import { listen } from "../support/listen.ts";
import { OWN_HOST } from "./certificate.ts";
import {
  collect,
  failureOf,
  goodBody,
  LISTING,
  library,
  never,
  open,
  serve,
  serveStatus,
} from "./service-under-test.ts";

const read = (service: Service, name: string) => service.readContent(library(name), collect(), never);
const names = (count: number) => Array.from({ length: count }, (_, i) => `L${i}`);

it("Retry-After delays a request whose connection is established later", async () => {
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
    ...OWN_HOST,
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

describe("throttling", () => {
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

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  type Server,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer as createRawServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { Scenario, ScenarioId, ScenarioSink } from "../../src/model.ts";
import { createRedactor } from "../../src/secrets.ts";
import { openService, type Service, type ServiceEvent, type ServiceOptions } from "../../src/service/client.ts";
import { listen } from "../support/listen.ts";
import { OWN_HOST } from "./certificate.ts";

export const KEY = "canary-5f1d2c/9";

export type Running = Awaited<ReturnType<typeof serve>>;

/** A real HTTP server for one test. */
export async function serve(answer: RequestListener, options: { tls?: boolean } = {}) {
  /** The raw target of each request line. */
  const targets: string[] = [];
  /** Times of arrival, `performance.now()`. */
  const arrivals: number[] = [];
  const listener: RequestListener = (request, response) => {
    targets.push(request.url ?? "");
    arrivals.push(performance.now());
    answer(request, response);
  };
  const server: Server = options.tls ? createTlsServer(OWN_HOST, listener) : createServer(listener);
  const port = await listen(server);
  // It includes the version segment and its trailing slash.
  const url = new URL(`${options.tls ? "https" : "http"}://127.0.0.1:${port}/v1/`);
  return { url, port, targets, arrivals };
}

/** A server that works on bytes: its handler receives the head and the socket of every request. */
export async function serveRaw(answer: (socket: Socket, target: string) => void) {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const server = createRawServer((socket) => {
    sockets.add(socket);
    let head = "";
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      head += chunk.toString("latin1");
      if (!head.includes("\r\n\r\n")) return;
      const target = head.split(" ")[1] ?? "";
      head = "";
      targets.push(target);
      answer(socket, target);
    });
  });
  const port = await listen(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { url: new URL(`http://127.0.0.1:${port}/v1/`), port, targets };
}

/** The body of a response that arrives in these parts. */
export function bodyOf(...parts: string[]) {
  return { read: async () => (parts.length === 0 ? null : Buffer.from(parts.shift() ?? "")) };
}

/** The client, with back-offs of a millisecond; it is closed after the test. */
export function open(url: URL, options: Partial<ServiceOptions> = {}): Service & { events: ServiceEvent[] } {
  const events: ServiceEvent[] = [];
  const service = openService({
    baseUrl: url,
    apiKey: KEY,
    defaultOwner: null,
    concurrency: 16,
    maxRps: null,
    requestTimeoutMs: 10_000,
    maxRetries: 4,
    maxRetryWaitMs: 60_000,
    maxBodyBytes: 2 ** 20,
    version: "1.2.3",
    environment: {},
    mask: createRedactor([KEY]),
    onEvent: (event) => events.push(event),
    ...options,
    timing: { backoffBaseMs: 1, ...options.timing },
  });
  onTestFinished(() => service.close());
  return Object.assign(service, { events });
}

export type CollectingSink = ReturnType<typeof collect>;

export function collect() {
  const scenarios = new Map<ScenarioId, Scenario>();
  const sink: ScenarioSink = {
    restart: async () => scenarios.clear(),
    async add(more) {
      for (const scenario of more) scenarios.set(scenario.id, scenario);
    },
    sources: async (ids) =>
      new Map(ids.flatMap((id) => (scenarios.has(id) ? [[id, scenarios.get(id)?.source ?? ""]] : []))),
    async remove(id) {
      scenarios.delete(id);
    },
    finish: async () => ({ kind: "memory", scenarios: [...scenarios.values()], count: scenarios.size }),
  };
  return { ...sink, scenarios };
}

export const never = new AbortController().signal;
export const LIBRARY = { owner: "ada", name: "Forest" } as const;
export const LISTING = `[{"libraryName":"Forest","uploadUser":"ada","lastModified":"2023-09-11 at 2:56 PM"}]`;
export const METADATA = `{"libraryName":"Forest","fileSize":"1 MB"}`;
export const SCENARIOS = `[{"scenarioId":1,"scenarioName":"Base","isResult":false},{"scenarioId":2,"parentId":1}]`;

/** A valid answer to each of the three requests. */
export function goodBody(target: string): string {
  if (target.endsWith("/metadata")) return METADATA;
  return target.endsWith("/scenarios") ? SCENARIOS : LISTING;
}

/** A server with valid answers, except where `other` returns true because it has handled the request itself. */
export function serveWell(
  other: (request: IncomingMessage, response: Parameters<RequestListener>[1]) => boolean = () => false,
): Promise<Running> {
  return serve((request, response) => {
    if (!other(request, response)) response.end(goodBody(request.url ?? ""));
  });
}

/** A server that answers every request with this status. */
export function serveStatus(status: number, headers: OutgoingHttpHeaders = {}, body = ""): Promise<Running> {
  return serve((_, response) => {
    response.writeHead(status, headers).end(body);
  });
}

/** Calls `note` with the path of each request of this server that a diagnostics channel of undici reports. */
export function watchRequests(channel: string, { url }: Running, note: (path: string) => void): void {
  const onMessage = (message: unknown) => {
    const { request } = message as { request: { origin: string; path: string } };
    if (request.origin === url.origin) note(request.path);
  };
  subscribe(channel, onMessage);
  onTestFinished(() => {
    unsubscribe(channel, onMessage);
  });
}

export const library = (name: string) => ({ owner: "ada", name });

/** Returns the rejection of a promise. */
export async function failureOf(promise: Promise<unknown>): Promise<Error & { code?: unknown }> {
  const result = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!("error" in result)) throw new Error(`did not fail: ${JSON.stringify(result.value)}`);
  if (!(result.error instanceof Error)) throw new Error(`threw no Error: ${String(result.error)}`);
  return result.error;
}

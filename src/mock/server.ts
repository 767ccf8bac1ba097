import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import { createAnswers } from "./answer.ts";
import { createDateSource, type DateSource } from "./date-source.ts";
import { EDITS, type EditMade, editRandomly } from "./edits.ts";
import { createFaultScript } from "./fault-script.ts";
import type { BetweenAction, Fault } from "./faults.ts";
import { createRandom } from "./random.ts";
import { createRecorder, type RecordedRequest, type Route } from "./request.ts";
import { createResponder } from "./respond.ts";
import type { Organization } from "./types.ts";

export interface MockServiceOptions {
  readonly organization: Organization;
  readonly apiKey: string;
  readonly host?: string;
  /** Default: 0, any free port. */
  readonly port?: number;
  /** The seed of faults with a probability and of random edits. */
  readonly seed?: number;
  /** Milliseconds between two random edits. Null: no edits. */
  readonly editEvery?: number | null;
  /** Such as `/v1`. Default: none. */
  readonly pathPrefix?: string;
  /** The service's clock, for edits and the `Date` header. */
  readonly clock?: () => Date;
  /** How edits write dates. Default: the minute format and `clock`. */
  readonly dateSource?: DateSource;
  readonly latencyMs?: number;
  /** Compresses answers for clients that accept gzip. */
  readonly gzip?: boolean;
  readonly tls?: { readonly key: string; readonly cert: string };
  /** If false, requests are not recorded: for measurements. */
  readonly record?: boolean;
  readonly faults?: readonly Fault[];
  /** Called before the answer is created. The answer waits for the promise, if one is returned. */
  readonly onRequest?: (request: RecordedRequest) => undefined | Promise<void>;
  readonly onEdit?: (edit: EditMade) => void;
}

export interface MockService {
  /** The base URL, with the path prefix and without a trailing slash. */
  readonly url: string;
  readonly organization: Organization;
  readonly requests: readonly RecordedRequest[];
  /** Requests other than GET, one sentence each. Every good test leaves this empty. */
  readonly violations: readonly string[];
  clearRequests(): void;
  /** Replaces the faults and resets their counts. */
  script(faults: readonly Fault[]): void;
  edit<T>(change: (organization: Organization) => T): T;
  /** Stops the edits and the server, and destroys all sockets. */
  stop(): Promise<void>;
}

/** Starts a mock of the service. Rejects with the system's error if the port is taken. */
export async function startMockService(options: MockServiceOptions): Promise<MockService> {
  const { organization, apiKey, host = "127.0.0.1", port = 0, seed = 1, clock } = options;
  const pathPrefix = (options.pathPrefix ?? "").replace(/\/$/, "");
  const dateSource = options.dateSource ?? createDateSource(clock === undefined ? {} : { clock });
  const random = createRandom(seed);
  const recorder = createRecorder(options.record ?? true);
  let script = createFaultScript(options.faults ?? [], random);

  const pickLibrary = () => (organization.size === 0 ? undefined : random.pick(organization.libraries()));

  function runEdit({ edit }: BetweenAction, route: Route): void {
    const library = "owner" in route ? organization.get(route.owner, route.name) : pickLibrary();
    if (typeof edit === "function") edit(organization, library);
    else if (library !== undefined) EDITS[edit](organization, library, random, dateSource);
  }

  const respond = createResponder({
    organization,
    answers: createAnswers(organization),
    recorder,
    script: () => script,
    runEdit,
    apiKey,
    pathPrefix,
    date: clock === undefined ? null : () => clock().toUTCString(),
    latencyMs: options.latencyMs ?? 0,
    gzip: options.gzip ?? false,
    onRequest: options.onRequest ?? null,
  });
  const listener = await listen({ host, port, ...(options.tls ? { tls: options.tls } : {}) }, respond);
  const timer = startEdits(options.editEvery ?? null, () => {
    // Not as an argument of the optional call: without onEdit there would be no edit.
    const edit = editRandomly(organization, random, dateSource);
    options.onEdit?.(edit);
  });

  return {
    url: `${listener.origin}${pathPrefix}`,
    organization,
    requests: recorder.requests,
    violations: recorder.violations,
    clearRequests: recorder.clear,
    script(faults) {
      script = createFaultScript(faults, random);
    },
    edit: (change) => change(organization),
    stop() {
      clearInterval(timer);
      return listener.close();
    },
  };
}

const startEdits = (everyMs: number | null, edit: () => void): NodeJS.Timeout | undefined =>
  everyMs === null ? undefined : setInterval(edit, everyMs);

interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly tls?: { readonly key: string; readonly cert: string };
}

interface Listener {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Destroys all sockets and resolves once the server is closed. */
  close(): Promise<void>;
}

/** No time-outs, because only faults may delay or fail an answer. The header limit is large enough for the longest keys. */
const SERVER_OPTIONS = { keepAliveTimeout: 60_000, requestTimeout: 0, headersTimeout: 0, maxHeaderSize: 256 * 1024 };

async function listen({ host, port, tls }: ListenOptions, respond: RequestListener): Promise<Listener> {
  const server = tls
    ? createSecureServer({ ...SERVER_OPTIONS, ...tls }, respond)
    : createServer(SERVER_OPTIONS, respond);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  const boundPort = typeof address === "object" && address !== null ? address.port : port;
  return {
    origin: `${tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${boundPort}`,
    async close() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

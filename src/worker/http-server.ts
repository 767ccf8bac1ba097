import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import { hostNameOf } from "../config/readers.ts";
import { ConfigurationError } from "../errors.ts";

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Route functions by path. They are called only for GET and HEAD, and must change nothing. */
export type Routes = Readonly<Record<string, () => Promise<Answer>>>;

export type HttpServer = Awaited<ReturnType<typeof openHttpServer>>;

export interface HttpServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Further host names that it answers. */
  readonly allowedHosts: readonly string[];
  readonly onError: (error: unknown) => void;
}

/** Clients are probes, scrapers and browsers. Their requests are few and short, so slow ones are cut off. */
const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
};
const SOCKET_IDLE_MS = 15_000;
const MAX_CLIENTS = 200;
const CLOSE_TIMEOUT_MS = 1_000;

const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** @throws ConfigurationError if the server cannot listen on the address */
export async function openHttpServer(options: HttpServerOptions, routes: Routes) {
  const { host, port } = options;
  const server = createServer(LIMITS, (request, response) => {
    const isAllowed = isAllowedHost(request.headers.host, [host, ...options.allowedHosts]);
    const answer = isAllowed ? () => route(request, routes) : async () => misdirected(options);
    void respond(request, response, options, answer);
  });
  server.maxConnections = MAX_CLIENTS;
  server.setTimeout(SOCKET_IDLE_MS, (socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => reject(cannotListen(host, port, cause)));
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return {
    /** Such as `http://127.0.0.1:9464`. */
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    /** Waits up to one second for answers in progress, then closes their connections. */
    async close(): Promise<void> {
      const timer = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS);
      await new Promise((resolve) => server.close(resolve));
      clearTimeout(timer);
    },
  };
}

/**
 * Returns true if a request with this Host header may be answered. A web page can make its own host name resolve to this
 * server (DNS rebinding) and so read it, but its requests carry the page's host name. An address is no such name. The port is
 * not compared: a forwarded port differs, and rebinding cannot change the name.
 */
function isAllowedHost(header: string | undefined, names: readonly string[]): boolean {
  // Browsers send the header with every request; HTTP/1.0 clients need not.
  if (header === undefined || header === "") return true;
  const host = hostNameOf(header);
  if (host === null) return false;
  const isAddress = host.startsWith("[") || isIP(host) !== 0;
  return isAddress || host === "localhost" || names.some((name) => hostNameOf(name) === host);
}

function cannotListen(host: string, port: number, cause: NodeJS.ErrnoException): ConfigurationError {
  const why = cause.code === "EADDRINUSE" ? "the port is in use" : cause.message;
  return new ConfigurationError(
    `cannot listen on ${host} port ${port}: ${why} (${cause.code}); set SIMCAT_HTTP_HOST and SIMCAT_HTTP_PORT to a free address (port 0: any free port)`,
    { cause },
  );
}

async function respond(
  { method = "" }: IncomingMessage,
  response: ServerResponse,
  { onError }: HttpServerOptions,
  answer: () => Promise<Answer>,
): Promise<void> {
  const { status, contentType, body, headers } = await answer().catch((error): Answer => {
    onError(error);
    return { status: 500, contentType: "text/plain; charset=utf-8", body: "" };
  });
  const bytes = Buffer.from(body, "utf8");
  response.writeHead(status, { ...HEADERS, "content-type": contentType, "content-length": bytes.length, ...headers });
  response.end(method === "HEAD" ? undefined : bytes);
}

export const textAnswer = (status: number, body: string, headers = {}): Answer => ({
  status,
  contentType: "text/plain; charset=utf-8",
  body: `${body}\n`,
  headers,
});

function misdirected({ host, allowedHosts }: HttpServerOptions): Answer {
  const names = [...new Set(["localhost", host, ...allowedHosts])].join(", ");
  return textAnswer(
    421,
    `this server answers only requests to an IP address or to ${names}; add other host names to SIMCAT_HTTP_ALLOWED_HOSTS`,
    { connection: "close" },
  );
}

async function route({ method = "", url = "" }: IncomingMessage, routes: Routes): Promise<Answer> {
  const [path = ""] = url.split("?");
  const found = Object.hasOwn(routes, path) ? routes[path] : undefined;
  // The request may have a body, which is not read, so the connection is closed.
  if (method !== "GET" && method !== "HEAD") {
    return textAnswer(405, "only GET and HEAD are allowed", { allow: "GET, HEAD", connection: "close" });
  }
  return found === undefined ? textAnswer(404, `not found; the paths are ${Object.keys(routes).join(", ")}`) : found();
}

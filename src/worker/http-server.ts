import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { hostNameOf } from "../config/readers.ts";
import type { Config } from "../config.ts";
import { ConfigurationError } from "../errors.ts";

interface Answer {
  /** Without it, 200. */
  readonly status?: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Route functions by path. They are called only for GET and HEAD, and must change nothing. */
export type Routes = Readonly<Record<string, () => Promise<Answer>>>;

const HEADERS = {
  "content-type": "text/plain; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/** @throws ConfigurationError if the server cannot listen on the address */
export async function openHttpServer(
  { httpHost: host, httpPort: port, httpAllowedHosts }: Pick<Config, "httpHost" | "httpPort" | "httpAllowedHosts">,
  routes: Routes,
  onError: (error: unknown) => void,
) {
  const names = [...new Set(["localhost", host, ...(httpAllowedHosts ?? [])])];
  const server = createServer(async (request, response) => {
    const answer = await route(request, names, routes).catch((error): Answer => {
      onError(error);
      return { status: 500, body: "" };
    });
    const { status = 200, body, headers } = answer;
    response.writeHead(status, { ...HEADERS, "content-length": Buffer.byteLength(body), ...headers }).end(body);
  });
  await once(server.listen(port, host), "listening").catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === "EADDRINUSE" ? "the port is in use" : cause.message;
    const hint = "set SIMCAT_HTTP_HOST and SIMCAT_HTTP_PORT to a free address (port 0: any free port)";
    throw new ConfigurationError(`cannot listen on ${host} port ${port}: ${why} (${cause.code})`, { hint, cause });
  });
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return {
    /** Such as `http://127.0.0.1:9464`. */
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    /** Waits up to one second for answers in progress, then closes their connections. */
    async close(): Promise<void> {
      const timer = setTimeout(() => server.closeAllConnections(), 1_000);
      await new Promise((resolve) => server.close(resolve));
      clearTimeout(timer);
    },
  };
}

async function route({ method = "", url = "", headers }: IncomingMessage, names: readonly string[], routes: Routes) {
  if (!isAllowedHost(headers.host, names)) {
    const body = `this server answers only requests to an IP address or to ${names.join(", ")}; add other host names to SIMCAT_HTTP_ALLOWED_HOSTS\n`;
    return { status: 421, body };
  }
  if (method !== "GET" && method !== "HEAD")
    return { status: 405, body: "only GET and HEAD are allowed\n", headers: { allow: "GET, HEAD" } };
  const [path = ""] = url.split("?");
  const found = Object.hasOwn(routes, path) ? routes[path] : undefined;
  return found?.() ?? { status: 404, body: `not found; the paths are ${Object.keys(routes).join(", ")}\n` };
}

/**
 * A web page can make its own host name resolve to this server (DNS rebinding) and so read it, but its requests carry that name, which
 * is no address. The port is not compared: a forwarded port differs, and rebinding cannot change the name.
 */
function isAllowedHost(header: string | undefined, names: readonly string[]): boolean {
  // Browsers send the header with every request; HTTP/1.0 clients need not.
  if (header === undefined || header === "") return true;
  const host = hostNameOf(header);
  if (host === null) return false;
  return host.startsWith("[") || isIP(host) !== 0 || names.some((name) => hostNameOf(name) === host);
}

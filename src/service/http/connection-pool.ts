import { setFlagsFromString } from "node:v8";
import { type buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from "undici";
import { ConfigurationError, toError } from "../../errors.ts";
import type { HttpOptions } from "./http-options.ts";

type ConnectionPoolOptions = Pick<HttpOptions, "baseUrl" | "concurrency" | "requestTimeoutMs" | "environment">;

/** How long an idle connection is kept. A server that closes it earlier costs a retry. */
const KEEP_ALIVE_MS = 2_000;

interface ProxySetting {
  readonly variable: "HTTPS_PROXY" | "HTTP_PROXY";
  readonly url: string;
  /** A request has used it. */
  isUsed: boolean;
}

/** The proxy could not be reached or did not open the tunnel, so the service received no request. */
export class ProxyFailure extends Error {
  readonly variable: ProxySetting["variable"];
  /** Without user and password. */
  readonly host: string;
  /** The status of the proxy's response, or the error without one. */
  readonly reason: number | Error;

  constructor({ variable, url }: ProxySetting, reason: number | Error) {
    super(typeof reason === "number" ? `it answered ${reason} to CONNECT` : reason.message);
    this.name = "ProxyFailure";
    this.variable = variable;
    this.host = new URL(url).host;
    this.reason = reason;
  }
}

/** True for localhost, its subdomains (RFC 6761), and the loopback addresses. */
function bypassesProxy(hostname: string): boolean {
  return /^(127(\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\]|(.+\.)?localhost\.?)$/i.test(hostname);
}

function loadProxySetting(protocol: string, environment: HttpOptions["environment"]): ProxySetting | null {
  const variable = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const value = environment[variable.toLowerCase()] || environment[variable] || "";
  if (value === "") return null;
  const url = value.includes("://") ? value : `http://${value}`;
  // The message does not quote the value, which may contain a password.
  if (!URL.canParse(url)) throw new ConfigurationError(`${variable} is not a valid proxy URL`);
  return { variable, url, isUsed: false };
}

/** Opens the connections to the service, directly or through a proxy. */
export function openConnectionPool(options: ConnectionPoolOptions) {
  const { baseUrl, concurrency, requestTimeoutMs, environment } = options;
  const poolSettings = {
    connections: concurrency,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // With the default of 2 s, a server that sends `Keep-Alive: timeout=2` would get a connection per request.
    keepAliveTimeoutThreshold: 500,
    // Each request has its own deadline: these two do not notice a trickle of bytes, and fire late.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  // Optimizing undici's parser, which is WebAssembly, takes memory and time in every run (docs/decisions/0030-no-webassembly-optimizer.md).
  setFlagsFromString("--liftoff-only");

  function openProxyAgent(proxy: ProxySetting): Dispatcher {
    return new EnvHttpProxyAgent({
      httpProxy: proxy.url,
      httpsProxy: proxy.url,
      noProxy: environment.no_proxy || environment.NO_PROXY || "",
      // Send plain http to the proxy with absolute URLs, because few proxies open a tunnel to port 80.
      proxyTunnel: false,
      // undici calls this with the proxy's own origin for absolute URLs, and with the service's origin otherwise.
      factory: (poolOrigin: string | URL, more: { readonly connect?: buildConnector.connector }) => {
        const { connect } = more;
        if (connect === undefined || new URL(poolOrigin).href !== new URL(proxy.url).href) {
          return new Pool(poolOrigin, { ...more, ...poolSettings });
        }
        proxy.isUsed = true;
        return new Pool(poolOrigin, { ...more, ...poolSettings, connect: connectToProxy(proxy, connect) });
      },
      // Without this time limit, a proxy that accepts and never responds would hold its connection for five minutes.
      clientFactory: (proxyOrigin: URL, more: object) =>
        openTunnels(proxy, proxyOrigin, { ...more, headersTimeout: requestTimeoutMs }),
    });
  }

  const { origin, protocol, hostname } = baseUrl;
  const proxy = loadProxySetting(protocol, environment);
  const dispatcher: Dispatcher =
    proxy === null || bypassesProxy(hostname)
      ? new Pool(origin, { ...poolSettings, connectTimeout: requestTimeoutMs })
      : openProxyAgent(proxy);
  return {
    dispatcher,
    /** The variable that names the proxy, once a request uses it; null without a proxy. */
    proxyVariable: () => (proxy?.isUsed ? proxy.variable : null),
  };
}

/** The connections to a proxy through which undici's ProxyAgent opens its tunnels. */
function openTunnels(proxy: ProxySetting, origin: URL, options: Pool.Options): Pool {
  const pool = new Pool(origin, options);
  const connect = pool.connect.bind(pool);
  pool.connect = async (request: Parameters<typeof connect>[0]) => {
    proxy.isUsed = true;
    const tunnel = await connect(request).catch((thrown) => {
      throw new ProxyFailure(proxy, toError(thrown));
    });
    if (tunnel.statusCode === 200) return tunnel;
    tunnel.socket.on("error", () => {}).destroy();
    throw new ProxyFailure(proxy, tunnel.statusCode);
  };
  return pool;
}

/** Connects to a proxy that receives absolute URLs. */
function connectToProxy(proxy: ProxySetting, connect: buildConnector.connector): buildConnector.connector {
  return (options, done) =>
    connect(options, (...[error, socket]) => {
      if (error === null) done(null, socket);
      else done(new ProxyFailure(proxy, error), null);
    });
}

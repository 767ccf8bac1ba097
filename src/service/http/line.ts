import type { buildConnector, Dispatcher } from "undici";
import { EnvHttpProxyAgent, Pool } from "undici";
import { ConfigurationError } from "../../errors.ts";
import { connectToProxy, openTunnels, type ProxySetting } from "./proxy.ts";

/** The connections to the one origin that we talk to, through a proxy or not. */
export interface Line {
  readonly dispatcher: Dispatcher;
  /** Whether the request that starts now goes over a connection that was used before. Ask in `onRequestStart` only. */
  reused(): boolean;
  /** The variable that names the proxy, once a request goes through it; null without one. */
  via(): ProxySetting["variable"] | null;
}

export interface LineOptions {
  readonly origin: string;
  readonly concurrency: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveMs: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Every 127.x.y.z is this machine, and so are `localhost` and what ends in it (RFC 6761). */
function isLoopback(hostname: string): boolean {
  return /^(127(\.\d+){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\]|(.+\.)?localhost\.?)$/i.test(hostname);
}

function proxyFrom(environment: LineOptions["environment"], variable: ProxySetting["variable"]): ProxySetting | null {
  const value = environment[variable.toLowerCase()] || environment[variable] || "";
  if (value === "") return null;
  const url = value.includes("://") ? value : `http://${value}`;
  // The value may hold a password: the message names the variable alone.
  if (!URL.canParse(url)) throw new ConfigurationError(`${variable} is no URL of a proxy`);
  return { variable, url };
}

export function openLine(options: LineOptions): Line {
  const { concurrency, requestTimeoutMs, keepAliveMs, environment } = options;
  let fresh = false;

  // undici says "connect" and then, in the same breath, starts the request that the connection was made for.
  function openPool(origin: string | URL, more: object): Pool {
    const pool = new Pool(origin, { ...more, ...settings });
    pool.on("connect", () => {
      fresh = true;
      queueMicrotask(() => {
        fresh = false;
      });
    });
    return pool;
  }

  const settings = {
    connections: concurrency,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    // A server that announces `Keep-Alive: timeout=2` would get a connection for each request with the default of 2 s.
    keepAliveTimeoutThreshold: 500,
    // Our own deadline rules: these two cannot see a drip, and fire late.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  const connectTimeout = requestTimeoutMs;
  const { protocol, hostname } = new URL(options.origin);
  const proxy = proxyFrom(environment, protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (proxy === null || isLoopback(hostname)) {
    return { dispatcher: openPool(options.origin, { connectTimeout }), reused: () => !fresh, via: () => null };
  }
  let via: ProxySetting["variable"] | null = null;
  // ProxyAgent asks for a pool of the proxy itself where requests name the absolute URL, else of the service.
  function openProxied(origin: string | URL, more: { readonly connect?: buildConnector.connector }): Pool {
    const { connect } = more;
    if (proxy === null || connect === undefined || new URL(origin).href !== new URL(proxy.url).href) {
      return openPool(origin, more);
    }
    via = proxy.variable;
    return openPool(origin, { ...more, connect: connectToProxy(proxy, connect) });
  }
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: proxy.url,
    httpsProxy: proxy.url,
    noProxy: environment.no_proxy || environment.NO_PROXY || "",
    // Plain http goes through a proxy as everybody's does, by its absolute URL: few proxies tunnel to port 80.
    proxyTunnel: false,
    factory: openProxied,
    // A proxy that accepts and says nothing must not hold its connection for undici's five minutes.
    clientFactory: (origin: URL, more: object) =>
      openTunnels(proxy, origin, { ...more, headersTimeout: requestTimeoutMs }, () => {
        via = proxy.variable;
      }),
  });
  return { dispatcher, reused: () => !fresh, via: () => via };
}

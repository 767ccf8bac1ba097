import { type buildConnector, Pool } from "undici";

/** The proxy that the environment names. */
export interface ProxySetting {
  readonly variable: "HTTPS_PROXY" | "HTTP_PROXY";
  readonly url: string;
}

/** The proxy could not be reached, or did not open the tunnel: the service was not asked. */
export class ProxyFailure extends Error {
  readonly variable: ProxySetting["variable"];
  /** Without user and password. */
  readonly host: string;
  /** The status of its answer; null without one. */
  readonly status: number | null;
  constructor({ variable, url }: ProxySetting, what: { readonly status: number } | { readonly error: Error }) {
    const options = "error" in what ? { cause: what.error } : {};
    super("error" in what ? what.error.message : `it answered ${what.status} to CONNECT`, options);
    this.name = "ProxyFailure";
    this.variable = variable;
    this.host = new URL(url).host;
    this.status = "status" in what ? what.status : null;
  }
}

const asError = (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown)));

/** The connections to a proxy through which undici's ProxyAgent opens its tunnels. */
export function openTunnels(proxy: ProxySetting, origin: URL, options: Pool.Options, onTunnel: () => void): Pool {
  const pool = new Pool(origin, options);
  const connect = pool.connect.bind(pool);
  pool.connect = async (request: Parameters<typeof connect>[0]) => {
    onTunnel();
    const tunnel = await connect(request).catch((error) => {
      throw new ProxyFailure(proxy, { error: asError(error) });
    });
    if (tunnel.statusCode === 200) return tunnel;
    tunnel.socket.on("error", () => {}).destroy();
    throw new ProxyFailure(proxy, { status: tunnel.statusCode });
  };
  return pool;
}

/** Connects to a proxy that is asked by absolute URLs. */
export function connectToProxy(proxy: ProxySetting, connect: buildConnector.connector): buildConnector.connector {
  return (options, done) =>
    connect(options, (...[error, socket]) => {
      if (error === null) done(null, socket);
      else done(new ProxyFailure(proxy, { error }), null);
    });
}

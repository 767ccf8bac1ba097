import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly tls?: { readonly key: string; readonly cert: string };
}

export interface Listener {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Destroys every socket; resolves when nothing of the server is left. */
  close(): Promise<void>;
}

/** Sets no time-outs, because faults are the script's job. Long keys need long paths, hence the large header limit. */
const SETTINGS = { keepAliveTimeout: 60_000, requestTimeout: 0, headersTimeout: 0, maxHeaderSize: 256 * 1024 };

export async function listen({ host, port, tls }: ListenOptions, respond: RequestListener): Promise<Listener> {
  const server = tls ? createSecureServer({ ...SETTINGS, ...tls }, respond) : createServer(SETTINGS, respond);
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  const taken = typeof address === "object" && address !== null ? address.port : port;
  return {
    origin: `${tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    async close() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

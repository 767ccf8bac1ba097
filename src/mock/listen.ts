import { once } from "node:events";
import type { ServerOptions } from "node:http";
import type { Server, Socket } from "node:net";

/** The header limit is large enough for the longest keys. There are no time-outs. */
export const SERVER_OPTIONS: ServerOptions = {
  keepAliveTimeout: 60_000,
  requestTimeout: 0,
  headersTimeout: 0,
  maxHeaderSize: 256 * 1024,
};

interface OpenServer {
  readonly port: number;
  /** Destroys all sockets and resolves once the server is closed. */
  close(): Promise<void>;
}

/** Port 0 is any free port. Rejects with the system's error if the port is taken. */
export async function listen(server: Server, host: string, port: number): Promise<OpenServer> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    async close() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

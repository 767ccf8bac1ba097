import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface Relay {
  /** The database's URL, through this relay. */
  readonly url: string;
  /** Refuses and resets. */
  cut(): void;
  /** Accepts connections and forwards nothing. */
  freeze(): void;
  mend(): void;
}

/** A TCP relay to a database, so that a test can cut one connection while the server stays up for the others. */
export async function relay(databaseUrl: string): Promise<Relay> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let mode: "open" | "cut" | "frozen" = "open";
  const server: Server = createServer((inner) => {
    if (mode === "cut") {
      inner.resetAndDestroy();
      return;
    }
    const outer = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on("data", (bytes) => {
        if (mode === "open") to.write(bytes);
      });
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.href,
    cut() {
      mode = "cut";
      for (const socket of sockets) socket.resetAndDestroy();
    },
    freeze() {
      mode = "frozen";
    },
    mend() {
      mode = "open";
    },
  };
}

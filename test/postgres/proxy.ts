import { createConnection, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { listen } from "../support/listen.ts";

/** The fate of a statement on its way to the server. */
export type Verdict =
  | "pass"
  /** The connection is cut before the statement arrives. */
  | "cut before"
  /** The statement is executed, and the connection is cut before its answer is delivered. */
  | "swallow answer"
  /** The statement never arrives, and the connection hangs. */
  | "black-hole";

/** A TCP proxy between simcat and Postgres that parses just enough of the protocol to see statements. */
export async function startPostgresProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = createConnection(Number(target.port), target.hostname);
    let verdict: Verdict = "pass";
    const cut = () => {
      client.resetAndDestroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.end();
      });
    }
    const statements = statementReader();
    client.on("data", (bytes) => {
      for (const statement of statements(bytes)) {
        if (verdict === "pass") verdict = proxy.judge(statement);
      }
      if (verdict === "cut before") cut();
      else if (verdict !== "black-hole") upstream.write(bytes);
    });
    const answers = answerReader();
    let isReady = false;
    upstream.on("data", (bytes) => {
      const becomesReady = !isReady && answers(bytes).includes("Z");
      isReady ||= becomesReady;
      if (becomesReady && proxy.endAtOnce > 0) {
        proxy.endAtOnce -= 1;
        client.end(Buffer.concat([bytes, SHUTDOWN]));
      } else if (verdict === "pass") client.write(bytes);
      // ReadyForQuery: the statement has been executed.
      else if (answers(bytes).includes("Z") && verdict === "swallow answer") cut();
    });
  });
  const port = await listen(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const cutAll = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };

  const proxy = {
    /** Decides the fate of each statement. */
    judge: (_: string): Verdict => "pass",
    /** The number of further connections that the server ends as soon as they are ready. */
    endAtOnce: 0,
    /** The same database, through the proxy. */
    url(url: string): string {
      const through = new URL(url);
      through.host = `127.0.0.1:${port}`;
      return through.href;
    },
    /** Cuts every open connection. */
    cutAll,
    /** Cuts every open connection and refuses new ones, like a server that is down. */
    goDown(): void {
      server.close();
      cutAll();
    },
  };
  return proxy;
}

/** The error of a server that shuts down: its type, its length, and its fields, each with a letter in front. */
const FIELDS = "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0";
const SHUTDOWN = Buffer.from(`E0000${FIELDS}`);
SHUTDOWN.writeInt32BE(FIELDS.length + 4, 1);

/** Statements in a client's bytes: simple queries and prepared ones. */
function statementReader(): (bytes: Buffer) => string[] {
  const messages = messageReader(true);
  return (bytes) =>
    messages(bytes).flatMap(({ type, body }) => {
      if (type === "Q") return [body.subarray(0, -1).toString()];
      if (type === "P") return [body.subarray(body.indexOf(0) + 1, body.indexOf(0, body.indexOf(0) + 1)).toString()];
      return [];
    });
}

function answerReader(): (bytes: Buffer) => string[] {
  const messages = messageReader(false);
  return (bytes) => messages(bytes).map(({ type }) => type);
}

/** A client's first message has no type byte. */
function messageReader(startsUntyped: boolean) {
  let held = Buffer.alloc(0);
  let typed = !startsUntyped;
  return (bytes: Buffer) => {
    held = Buffer.concat([held, bytes]);
    const found: { type: string; body: Buffer }[] = [];
    for (;;) {
      const head = typed ? 1 : 0;
      if (held.length < head + 4) return found;
      const length = held.readInt32BE(head);
      if (held.length < head + length) return found;
      found.push({ type: typed ? held.toString("latin1", 0, 1) : "", body: held.subarray(head + 4, head + length) });
      held = held.subarray(head + length);
      typed = true;
    }
  };
}

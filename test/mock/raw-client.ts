import { type Agent, type IncomingHttpHeaders, request } from "node:http";
import { connect } from "node:net";

export const KEY = "mock-key";

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  /** The size of each piece as it arrived. */
  readonly pieces: readonly number[];
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
  readonly maxHeaderSize?: number;
}

/** One request by node:http; rejects as node does when the answer is cut. */
export function ask(url: string, path: string, options: AskOptions = {}): Promise<RawAnswer> {
  const { method = "GET", headers = {}, agent = false, maxHeaderSize = 1 << 20 } = options;
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, path, method, headers: { "x-ss-api-key": KEY, ...headers }, agent, maxHeaderSize },
      (res) => {
        const chunks: Buffer[] = [];
        res.on("data", (chunk: Buffer) => chunks.push(chunk));
        res.on("error", reject);
        res.on("end", () => {
          const body = Buffer.concat(chunks);
          const pieces = chunks.map((chunk) => chunk.length);
          resolve({ status: res.statusCode ?? 0, headers: res.headers, body, text: body.toString(), pieces });
        });
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}

export interface RawExchange {
  /** All received bytes. */
  readonly text: string;
  readonly head: string;
  readonly body: string;
  /** `end` for a FIN, else the error's code. */
  readonly ending: string;
}

/** Writes one request and listens until the service closes the connection. */
export function listenToEnd(
  url: string,
  path: string,
  onBytes: (text: string) => void = () => {},
): Promise<RawExchange> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) });
    let text = "";
    let ending = "end";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      text += chunk;
      onBytes(text);
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      ending = error.code ?? error.message;
    });
    socket.on("close", () => {
      const [head = "", ...body] = text.split("\r\n\r\n");
      resolve({ text, head, body: body.join("\r\n\r\n"), ending });
    });
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-ss-api-key: ${KEY}\r\n\r\n`);
  });
}

import { type Agent, type IncomingHttpHeaders, request } from "node:http";

export const KEY = "mock-key";

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
}

/** One request by node:http; rejects as node does when the answer is cut. */
export function ask(url: string, path: string, options: AskOptions = {}): Promise<RawAnswer> {
  const { method = "GET", headers = {}, agent = false } = options;
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request(
      { hostname, port, path, method, headers: { "x-ss-api-key": KEY, ...headers }, agent },
      (res) => {
        const chunks: Buffer[] = [];
        res.on("data", (chunk: Buffer) => chunks.push(chunk));
        res.on("error", reject);
        res.on("end", () => {
          resolve({ status: res.statusCode ?? 0, headers: res.headers, text: Buffer.concat(chunks).toString() });
        });
      },
    );
    sent.on("error", reject);
    sent.end();
  });
}

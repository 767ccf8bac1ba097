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
export function ask(url: string, path: string, { headers, ...rest }: AskOptions = {}): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const options = { hostname, port, path, agent: false, headers: { "x-ss-api-key": KEY, ...headers }, ...rest };
  return new Promise((resolve, reject) => {
    const sent = request(options, (answer) => {
      const whole = answer.toArray().then((chunks) => Buffer.concat(chunks).toString());
      whole.then((text) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }), reject);
    });
    sent.on("error", reject).end();
  });
}

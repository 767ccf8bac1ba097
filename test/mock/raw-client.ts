import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { API_KEY } from "../support/fixture.ts";

interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request by node:http, which sends a path as it is. */
export async function ask(url: string, path: string, { headers, ...rest }: AskOptions = {}) {
  const { hostname, port } = new URL(url);
  const options = { hostname, port, path, agent: false, headers: { "x-ss-api-key": API_KEY, ...headers }, ...rest };
  const [answer] = (await once(request(options).end(), "response")) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, text: Buffer.concat(await answer.toArray()).toString() };
}

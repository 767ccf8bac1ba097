import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { UTC_DATES } from "./date-source.ts";
import { editRandomly } from "./edits.ts";
import type { MockLibrary } from "./library.ts";
import type { Organization } from "./organization.ts";
import { createRandom } from "./random.ts";

export type Route =
  | { readonly kind: "listing" | "unknown" }
  | { readonly kind: "metadata" | "scenarios"; readonly owner: string; readonly name: string };

const CONTENT_PATH = /^\/libs\/user\/([^/]+)\/([^/]+)\/(metadata|scenarios)$/;

/** Splits the raw path before decoding its segments, so that `%2F` is a character of a name. */
export function parseRoute(rawPath: string): Route {
  const [path = ""] = rawPath.split("?");
  if (path === "/libs") return { kind: "listing" };
  const [, owner = "", name = "", kind] = CONTENT_PATH.exec(path) ?? [];
  try {
    if (kind === "metadata" || kind === "scenarios")
      return { kind, owner: decodeURIComponent(owner), name: decodeURIComponent(name) };
  } catch {
    // Not UTF-8.
  }
  return { kind: "unknown" };
}

/** The status and the JSON value of the answer to a request. */
export function findAnswer(
  organization: Organization,
  apiKey: string,
  { method, headers }: IncomingMessage,
  route: Route,
): { readonly status: number; readonly value: unknown } {
  if (method !== "GET") return refusal(405, "Method Not Allowed");
  if (headers["x-ss-api-key"] !== apiKey) return refusal(401, "Unauthorized");
  if (route.kind === "listing") return { status: 200, value: organization.libraries().map(entryOf) };
  const library = "owner" in route ? organization.get(route.owner, route.name) : undefined;
  if (library === undefined) return refusal(404, "Not Found");
  return { status: 200, value: route.kind === "metadata" ? metadataOf(library) : library.scenarios };
}

/** The specification does not define the body of an error: similar services send an object with a message. */
const refusal = (status: number, message: string) => ({ status, value: { message } });

/** A list entry (specification 2.1). */
export function entryOf({ name, owner, lastModified }: MockLibrary) {
  return { libraryName: name, uploadUser: owner, lastModified };
}

/** The metadata (specification 2.2). */
export function metadataOf(library: MockLibrary) {
  const { name, libraryOwner, lastModified, fileSize, packageName, packageVersion, description } = library;
  return { libraryName: name, libraryOwner, lastModified, fileSize, packageName, packageVersion, description };
}

export const JSON_TYPE = "application/json; charset=utf-8";

/** Port 0 is any free port. `close` destroys all sockets. Rejects with the system's error if the port is taken. */
export async function listen(server: Server, host: string, port: number) {
  await once(server.listen(port, host), "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    async close(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface MockServiceOptions {
  readonly organization: Organization;
  readonly apiKey: string;
  /** Default: 0, any free port. */
  readonly port?: number;
  /** The seed of random edits. */
  readonly seed?: number;
  /** Milliseconds between two random edits. Null: no edits. */
  readonly editEvery?: number | null;
}

const HOST = "127.0.0.1";

/** Starts a mock of the service. Rejects with the system's error if the port is taken. */
export async function startMockService(options: MockServiceOptions) {
  const { organization, apiKey, port = 0, seed = 1, editEvery = null } = options;
  const server = createServer((req, res) => {
    const { status, value } = findAnswer(organization, apiKey, req, parseRoute(req.url ?? ""));
    const body = Buffer.from(JSON.stringify(value));
    res.writeHead(status, { "content-type": JSON_TYPE, "content-length": body.length }).end(body);
  });
  const opened = await listen(server, HOST, port);
  const random = createRandom(seed);
  const edit = () => editRandomly(organization, random, UTC_DATES);
  const timer = editEvery === null ? undefined : setInterval(edit, editEvery);
  return {
    /** Without a trailing slash. */
    url: `http://${HOST}:${opened.port}`,
    /** Stops the edits and the server, and destroys all sockets. */
    stop(): Promise<void> {
      clearInterval(timer);
      return opened.close();
    },
  };
}

import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Organization } from "../../../src/mock/organization.ts";
import { listen, SERVER_OPTIONS } from "../../../src/mock/server.ts";
import type { Fault, FaultMatch } from "./faults.ts";
import { changeLibrary, type MockLibrary } from "./library.ts";
import { createListener, type Listener, type ListenerOptions } from "./listener.ts";

export interface MockServiceOptions extends ListenerOptions {
  readonly host?: string;
  readonly tls?: { readonly key: string; readonly cert: string };
}

export interface MockService extends Omit<Listener, "respond"> {
  /** The base URL, with the path prefix and without a trailing slash. */
  readonly url: string;
  readonly organization: Organization;
  edit<T>(change: (organization: Organization) => T): T;
  /** A script of one fault, which fires for the next matching request, or for every one. */
  once(match: FaultMatch, action: Fault["action"]): void;
  always(match: FaultMatch, action: Fault["action"]): void;
  /** Adds libraries, or replaces those of the same name. */
  put(...libraries: readonly MockLibrary[]): void;
  /** Changes fields of one library. Throws if there is no such library. */
  change(owner: string, name: string, fields: Partial<MockLibrary>): void;
  remove(owner: string, name: string): void;
  /** Stops the server and destroys all sockets. */
  stop(): Promise<void>;
}

/** Starts a mock of the service that records its requests, and whose answers can be faulty. */
export async function startMockService(options: MockServiceOptions): Promise<MockService> {
  const { organization, host = "127.0.0.1", pathPrefix = "", tls } = options;
  const { respond, ...listener } = createListener(options);
  const server = tls
    ? createSecureServer({ ...SERVER_OPTIONS, ...tls }, respond)
    : createServer(SERVER_OPTIONS, respond);
  const { port, close } = await listen(server, host, 0);
  return {
    ...listener,
    url: `${tls ? "https" : "http"}://${host}:${port}${pathPrefix}`,
    organization,
    once: (match, action) => listener.script([{ match, action }]),
    always: (match, action) => listener.script([{ match, times: "always", action }]),
    edit: (change) => change(organization),
    put: (...libraries) => {
      for (const library of libraries) organization.put(library);
    },
    change: (owner, name, fields) => void changeLibrary(organization, owner, name, fields),
    remove: (owner, name) => void organization.remove(owner, name),
    stop: close,
  };
}

import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { listen } from "../../../src/mock/mock-service.ts";
import type { Fault, FaultMatch } from "./faults.ts";
import { changeLibrary, type MockLibrary } from "./library.ts";
import { createListener, type ListenerOptions } from "./listener.ts";

export interface MockServiceOptions extends ListenerOptions {
  readonly host?: string;
  readonly tls?: { readonly key: string; readonly cert: string };
}

export type MockService = Awaited<ReturnType<typeof startMockService>>;

/** Starts a mock of the service that records its requests, and whose answers can be faulty. */
export async function startMockService(options: MockServiceOptions) {
  const { organization, host = "127.0.0.1", pathPrefix = "", tls } = options;
  const { respond, ...listener } = createListener(options);
  const server = tls ? createSecureServer(tls, respond) : createServer(respond);
  const { port, close } = await listen(server, host, 0);
  return {
    ...listener,
    /** The base URL, with the path prefix and without a trailing slash. */
    url: `${tls ? "https" : "http"}://${host}:${port}${pathPrefix}`,
    organization,
    /** A script of one fault, which fires for the next matching request, or for every one. */
    once: (match: FaultMatch, action: Fault["action"]) => listener.script([{ match, action }]),
    always: (match: FaultMatch, action: Fault["action"]) => listener.script([{ match, times: "always", action }]),
    /** Adds libraries, or replaces those of the same name. */
    put(...libraries: readonly MockLibrary[]): void {
      for (const library of libraries) organization.put(library);
    },
    /** Changes fields of one library. Throws if there is no such library. */
    change: (owner: string, name: string, fields: Partial<MockLibrary>) =>
      void changeLibrary(organization, owner, name, fields),
    remove: (owner: string, name: string) => void organization.remove(owner, name),
    /** Stops the server and destroys all sockets. */
    stop: close,
  };
}

import { createServer } from "node:http";
import { UTC_DATES } from "./date-source.ts";
import { editRandomly } from "./edits.ts";
import { listen, SERVER_OPTIONS } from "./listen.ts";
import { createRandom } from "./random.ts";
import { createResponder, send } from "./respond.ts";
import { parseRoute } from "./route.ts";
import type { Organization } from "./types.ts";

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

export interface MockService {
  /** Without a trailing slash. */
  readonly url: string;
  /** Stops the edits and the server, and destroys all sockets. */
  stop(): Promise<void>;
}

const HOST = "127.0.0.1";

/** Starts a mock of the service. Rejects with the system's error if the port is taken. */
export async function startMockService(options: MockServiceOptions): Promise<MockService> {
  const { organization, apiKey, port = 0, seed = 1, editEvery = null } = options;
  const respond = createResponder(organization, apiKey);
  const server = createServer(SERVER_OPTIONS, (req, res) => send(res, respond(req, parseRoute(req.url ?? ""))));
  const opened = await listen(server, HOST, port);
  const random = createRandom(seed);
  const edit = () => editRandomly(organization, random, UTC_DATES);
  const timer = editEvery === null ? undefined : setInterval(edit, editEvery);
  return {
    url: `http://${HOST}:${opened.port}`,
    stop() {
      clearInterval(timer);
      return opened.close();
    },
  };
}

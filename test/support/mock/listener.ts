import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { parseRoute, type Route } from "../../../src/mock/mock-service.ts";
import type { Organization } from "../../../src/mock/organization.ts";
import { alterAnswer } from "./alter-answer.ts";
import { createResponder, type HttpAnswer, httpError } from "./answer.ts";
import { type Delivery, deliver, isDelivery, later } from "./deliver.ts";
import { createFaultScript } from "./fault-script.ts";
import type { Fault, FaultAction } from "./faults.ts";
import { createRecorder, type RecordedRequest } from "./recorder.ts";
import { createThrottle } from "./throttle.ts";

export interface ListenerOptions {
  readonly organization: Organization;
  readonly apiKey: string;
  /** Such as `/v1`. Default: none. */
  readonly pathPrefix?: string;
  /** The service's clock, for the `Date` header. */
  readonly clock?: () => Date;
  readonly latencyMs?: number;
  /** If false, requests are not recorded: for measurements. */
  readonly record?: boolean;
  readonly faults?: readonly Fault[];
  /** Called before the answer is created. The answer waits for the promise, if one is returned. */
  readonly onRequest?: (request: RecordedRequest) => undefined | Promise<void>;
}

/** Characters that a path segment may contain unencoded (RFC 3986); all others must be percent-encoded. */
const SEGMENT = /^(?:[\w\-.~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})*$/;
/** The segments `.` and `..`, encoded or not: URL parsers remove them. */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/** Returns a segment of the path that a client must not send. The service is not known to check them. */
function findMalformed(path: string): string | undefined {
  const [raw = ""] = path.split("?");
  return raw.split("/").find((one) => !SEGMENT.test(one) || DOT_SEGMENT.test(one) || !isUtf8(one));
}

function isUtf8(segment: string): boolean {
  try {
    decodeURIComponent(segment);
    return true;
  } catch {
    return false;
  }
}

/** Creates the request listener: it records each request, finds its fault, creates the answer and delivers it. */
export function createListener(options: ListenerOptions) {
  const { organization, apiKey, pathPrefix = "", clock, latencyMs = 0, onRequest } = options;
  const findAnswer = createResponder(organization, apiKey);
  const date = clock === undefined ? null : () => clock().toUTCString();
  const { add, ...recorder } = createRecorder(options.record ?? true);
  const throttle = createThrottle();
  const closing = new WeakSet<Socket>();
  let nextActions = createFaultScript(options.faults ?? []);

  function respond(req: IncomingMessage, res: ServerResponse): void {
    const record = add(req);
    if (closing.has(req.socket)) {
      req.socket.destroy();
      return;
    }
    const ready = onRequest?.(record);
    if (ready === undefined) answer(req, res, record);
    else ready.then(() => answer(req, res, record)).catch(() => res.destroy());
  }

  function answer(req: IncomingMessage, res: ServerResponse, record: RecordedRequest): void {
    const isBelowPrefix = record.path.startsWith(pathPrefix);
    const route: Route = isBelowPrefix ? parseRoute(record.path.slice(pathPrefix.length)) : { kind: "unknown" };
    const actions = nextActions(route, record.path);
    if (actions.length > 0) record.fault = actions.map((action) => action.kind).join("+");
    for (const action of actions) if (action.kind === "between") res.once("finish", () => action.edit(organization));
    const malformed = findMalformed(record.path);
    const right =
      malformed === undefined
        ? findAnswer(req, route)
        : httpError(400, `path segment "${malformed}" is not properly encoded`);
    const altered = actions.reduce((before, action) => applyFault(before, action), right);
    const fault = actions.findLast(isDelivery);
    const delivery: Delivery = { res, date, record, closing };
    if (latencyMs > 0) later(res, latencyMs, () => deliver(altered, fault, delivery));
    else deliver(altered, fault, delivery);
  }

  function applyFault(answer: HttpAnswer, action: FaultAction): HttpAnswer {
    if (action.kind === "between" || isDelivery(action)) return answer;
    if (action.kind === "throttle") return throttle(action) ?? answer;
    try {
      return alterAnswer(answer, action);
    } catch (error) {
      return httpError(500, `the mock could not do "${action.kind}": ${String(error)}`);
    }
  }

  return {
    ...recorder,
    respond,
    /** Replaces the faults and resets their counts. */
    script(faults: readonly Fault[]): void {
      nextActions = createFaultScript(faults);
    },
  };
}

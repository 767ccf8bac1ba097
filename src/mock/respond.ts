import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { alterAnswer } from "./alter-answer.ts";
import { type Answer, type Answers, errorAnswer } from "./answer.ts";
import { createCompressor } from "./compress.ts";
import { type Delivery, deliver, deliverBadly, later } from "./deliver.ts";
import type { FaultScript } from "./fault-script.ts";
import type { BetweenAction, DeliveryAction, FaultAction } from "./faults.ts";
import type { Organization } from "./nouns.ts";
import type { OpenRecord, RecordedRequest, Recorder } from "./recorder.ts";
import { parseRoute, type Route } from "./route.ts";
import { createThrottle } from "./throttle.ts";

export interface ResponderOptions {
  readonly organization: Organization;
  readonly answers: Answers;
  readonly recorder: Recorder;
  readonly script: () => FaultScript;
  readonly runEdit: (action: BetweenAction, route: Route) => void;
  readonly apiKey: string;
  readonly pathPrefix: string;
  readonly date: (() => string) | null;
  readonly latencyMs: number;
  readonly gzip: boolean;
  readonly onRequest: ((request: RecordedRequest) => undefined | Promise<void>) | null;
}

/** Records one request, finds its fault, creates the answer and delivers it. */
export function createResponder(options: ResponderOptions): RequestListener {
  const { organization, answers, recorder, script, runEdit, apiKey, pathPrefix, date, latencyMs, onRequest } = options;
  const compress = options.gzip ? createCompressor() : null;
  const throttle = createThrottle();
  const closing = new WeakSet<Socket>();
  let inFlight = 0;
  const land = (): void => {
    inFlight -= 1;
  };

  function respond(req: IncomingMessage, res: ServerResponse): void {
    inFlight += 1;
    res.on("close", land);
    const record = recorder.add(req);
    if (closing.has(req.socket)) {
      req.socket.destroy();
      return;
    }
    const held = onRequest?.(record);
    if (held === undefined) answer(req, res, record);
    else held.then(() => answer(req, res, record)).catch(() => res.destroy());
  }

  function answer(req: IncomingMessage, res: ServerResponse, record: OpenRecord): void {
    const route = parseRoute(record.path, pathPrefix);
    const actions = script().next(route, record.path);
    if (actions.length > 0) record.fault = actions.map((action) => action.kind).join("+");
    for (const action of actions) if (action.kind === "between") scheduleEdit(action, route, res);
    const made = actions.reduce((so, action) => spoil(so, action, route), findAnswer(req, route));
    const sent = compress === null ? made : compress(made, req);
    const delivery: Delivery = { res, date, record, closing };
    const bad = actions.findLast(isDelivery);
    if (latencyMs > 0) later(res, latencyMs, () => send(sent, bad, delivery));
    else send(sent, bad, delivery);
  }

  function scheduleEdit(action: BetweenAction, route: Route, res: ServerResponse): void {
    if (action.when === "after") res.once("finish", () => runEdit(action, route));
    else runEdit(action, route);
  }

  function spoil(answer: Answer, action: FaultAction, route: Route): Answer {
    if (action.kind === "between" || isDelivery(action)) return answer;
    if (action.kind === "throttle") return throttle(action, inFlight) ?? answer;
    try {
      return alterAnswer(answer, action, "owner" in route ? route.kind : "listing");
    } catch (error) {
      return errorAnswer(500, `the mock could not do "${action.kind}": ${String(error)}`);
    }
  }

  function findAnswer(req: IncomingMessage, route: Route): Answer {
    if (req.method !== "GET") return errorAnswer(405, "Method Not Allowed");
    if (req.headers["x-ss-api-key"] !== apiKey) return errorAnswer(401, "Unauthorized");
    if (route.kind === "listing") return answers.listing();
    if (route.kind === "malformed") return errorAnswer(400, route.reason);
    const library = "owner" in route ? organization.get(route.owner, route.name) : undefined;
    if (library === undefined) return errorAnswer(404, "Not Found");
    return route.kind === "metadata" ? answers.metadata(library) : answers.scenarios(library);
  }

  return respond;
}

function send(answer: Answer, bad: DeliveryAction | undefined, delivery: Delivery): void {
  if (bad === undefined) deliver(answer, delivery);
  else deliverBadly(answer, bad, delivery);
}

const DELIVERIES: ReadonlySet<string> = new Set<DeliveryAction["kind"]>([
  "delay",
  "reset",
  "truncate",
  "hang",
  "drip",
  "closeKeepAlive",
]);

const isDelivery = (action: FaultAction): action is DeliveryAction => DELIVERIES.has(action.kind);

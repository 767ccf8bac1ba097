import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { alterAnswer } from "./alter-answer.ts";
import { type Answer, type Answers, createCompressor, errorAnswer, withHeader } from "./answer.ts";
import { type Delivery, deliver, isDelivery, later } from "./deliver.ts";
import type { FaultScript } from "./fault-script.ts";
import type { BetweenAction, FaultAction, ThrottleAction } from "./faults.ts";
import { parseRoute, type RecordedRequest, type Recorder, type RequestRecord, type Route } from "./request.ts";
import type { Organization } from "./types.ts";

interface ResponderOptions {
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

/** Creates the request listener: it records each request, finds its fault, creates the answer and delivers it. */
export function createResponder(options: ResponderOptions): RequestListener {
  const { organization, answers, recorder, script, runEdit, apiKey, pathPrefix, date, latencyMs, onRequest } = options;
  const compress = options.gzip ? createCompressor() : null;
  const throttle = createThrottle();
  const closing = new WeakSet<Socket>();
  let inFlight = 0;

  function respond(req: IncomingMessage, res: ServerResponse): void {
    inFlight += 1;
    res.on("close", () => {
      inFlight -= 1;
    });
    const record = recorder.add(req);
    if (closing.has(req.socket)) {
      req.socket.destroy();
      return;
    }
    const ready = onRequest?.(record);
    if (ready === undefined) answer(req, res, record);
    else ready.then(() => answer(req, res, record)).catch(() => res.destroy());
  }

  function answer(req: IncomingMessage, res: ServerResponse, record: RequestRecord): void {
    const route = parseRoute(record.path, pathPrefix);
    const actions = script().next(route, record.path);
    if (actions.length > 0) record.fault = actions.map((action) => action.kind).join("+");
    for (const action of actions) if (action.kind === "between") scheduleEdit(action, route, res);
    const plain = actions.reduce((before, action) => applyFault(before, action, route), findAnswer(req, route));
    const encoded = compress === null ? plain : compress(plain, req);
    const fault = actions.findLast(isDelivery);
    const delivery: Delivery = { res, date, record, closing };
    if (latencyMs > 0) later(res, latencyMs, () => deliver(encoded, fault, delivery));
    else deliver(encoded, fault, delivery);
  }

  function scheduleEdit(action: BetweenAction, route: Route, res: ServerResponse): void {
    if (action.when === "after") res.once("finish", () => runEdit(action, route));
    else runEdit(action, route);
  }

  function applyFault(answer: Answer, action: FaultAction, route: Route): Answer {
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

/** Returns the answer that refuses a request, or null if the request may pass. */
type Throttle = (action: ThrottleAction, inFlight: number) => Answer | null;

/** Each throttle of a script has a token bucket, which is full at first and holds the requests of a tenth of a second. */
function createThrottle(): Throttle {
  const buckets = new Map<ThrottleAction, { tokens: number; filledAt: number }>();
  function take(action: ThrottleAction, perSecond: number): boolean {
    const capacity = Math.max(1, perSecond / 10);
    const now = performance.now();
    const bucket = buckets.get(action) ?? { tokens: capacity, filledAt: now };
    buckets.set(action, bucket);
    bucket.tokens = Math.min(capacity, bucket.tokens + ((now - bucket.filledAt) * perSecond) / 1_000);
    bucket.filledAt = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
  return (action, inFlight) => {
    const tooMany = action.inFlight !== undefined && inFlight > action.inFlight;
    const tooFast = action.perSecond !== undefined && !take(action, action.perSecond);
    if (!tooMany && !tooFast) return null;
    const refusal = errorAnswer(action.status ?? 429, "Slow down");
    return action.retryAfter === undefined ? refusal : withHeader(refusal, "retry-after", action.retryAfter);
  };
}

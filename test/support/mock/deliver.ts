import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { HttpAnswer } from "./answer.ts";
import type { DeliveryAction, FaultAction } from "./faults.ts";
import type { RecordedRequest } from "./recorder.ts";

/** The response that an answer is sent with, and how. */
export interface Delivery {
  readonly res: ServerResponse;
  /** The text of the `Date` header. Null: Node writes the current time. */
  readonly date: (() => string) | null;
  /** Its status is set when the head is sent. */
  readonly record: RecordedRequest;
  /** Sockets that are closed as soon as another request arrives on them. */
  readonly closing: WeakSet<Socket>;
}

/** How the client finds the end of the body: Content-Length, chunks, or the end of the connection. */
type BodyEnd = "length" | "chunked" | "close";

/** Time for the written bytes to be sent before a reset, which would discard them. */
const FLUSH_MS = 20;

const DELIVERY_KINDS: ReadonlySet<string> = new Set<DeliveryAction["kind"]>([
  "delay",
  "reset",
  "truncate",
  "hang",
  "closeKeepAlive",
]);

export const isDelivery = (action: FaultAction): action is DeliveryAction => DELIVERY_KINDS.has(action.kind);

function deliverWell(answer: HttpAnswer, delivery: Delivery): void {
  writeHead(answer, delivery, "length");
  delivery.res.end(answer.body);
}

/** Sends an answer, with or without a delivery fault. */
export function deliver(answer: HttpAnswer, action: DeliveryAction | undefined, delivery: Delivery): void {
  const { res } = delivery;
  switch (action?.kind) {
    case undefined:
      deliverWell(answer, delivery);
      break;
    case "delay":
      later(res, action.ms, () => deliverWell(answer, delivery));
      break;
    case "reset":
      if (action.afterBytes === undefined) res.socket?.resetAndDestroy();
      else sendPart(answer, action.afterBytes, delivery, "length", () => res.socket?.resetAndDestroy());
      break;
    case "truncate":
      sendPart(answer, action.bytes ?? answer.body.length >> 1, delivery, action.how ?? "length", () =>
        res.socket?.end(),
      );
      break;
    case "hang":
      if (typeof action.after === "number") sendPart(answer, action.after, delivery, "length", () => {});
      else if (action.after === "head") sendPart(answer, 0, delivery, "length", () => {});
      break;
    case "closeKeepAlive":
      if (action.when === "afterAnswer") res.once("finish", () => res.req.socket.end());
      else delivery.closing.add(res.req.socket);
      deliverWell(answer, delivery);
      break;
    default:
      action satisfies never;
  }
}

function writeHead(answer: HttpAnswer, { res, date, record }: Delivery, end: BodyEnd): void {
  const headers = [...answer.headers];
  if (end === "length" && answer.status !== 204) headers.push("content-length", String(answer.body.length));
  if (end === "close") {
    res.useChunkedEncodingByDefault = false;
    res.shouldKeepAlive = false;
  }
  if (answer.date === null) res.sendDate = false;
  else if (answer.date !== undefined) headers.push("date", answer.date);
  else if (date !== null) headers.push("date", date());
  record.status = answer.status;
  res.writeHead(answer.status, headers);
}

/** Sends the head and the first `bytes` bytes of the body, and then calls `onSent`. */
function sendPart(answer: HttpAnswer, bytes: number, delivery: Delivery, end: BodyEnd, onSent: () => void): void {
  const { res } = delivery;
  writeHead(answer, delivery, end);
  res.flushHeaders();
  const part = answer.body.subarray(0, bytes);
  if (part.length > 0) res.write(part, () => later(res, FLUSH_MS, onSent));
  else later(res, FLUSH_MS, onSent);
}

/** Calls `action` after `ms` milliseconds, unless the response is closed first. */
export function later(res: ServerResponse, ms: number, action: () => void): void {
  if (res.destroyed) return;
  const timer = setTimeout(action, ms);
  res.once("close", () => clearTimeout(timer));
}

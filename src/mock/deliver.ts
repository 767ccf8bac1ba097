import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Answer } from "./answer.ts";
import type { DeliveryAction } from "./faults.ts";
import type { OpenRecord } from "./recorder.ts";

/** Sends an answer, with or without a delivery fault. */
export interface Delivery {
  readonly res: ServerResponse;
  /** The `Date` header's text; null leaves it to node. */
  readonly date: (() => string) | null;
  /** Gets the status when the head goes out. */
  readonly record: OpenRecord;
  /** Sockets to be closed as soon as another request arrives on them. */
  readonly closing: WeakSet<Socket>;
}

/** How the head lets the client know where the body ends. */
type BodyEnd = "length" | "chunked" | "close";

/** Long enough for what was written to leave before the reset, which would throw it away. */
const FLUSH_MS = 20;

export function deliver(answer: Answer, delivery: Delivery): void {
  writeHead(answer, delivery, "length");
  delivery.res.end(answer.body);
}

export function deliverBadly(answer: Answer, action: DeliveryAction, delivery: Delivery): void {
  const { res } = delivery;
  switch (action.kind) {
    case "delay":
      later(res, action.ms, () => deliver(answer, delivery));
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
    case "drip":
      writeHead(answer, delivery, "length");
      drip(res, answer.body, action.bytes, action.everyMs);
      break;
    case "closeKeepAlive":
      if (action.when === "afterAnswer") res.once("finish", () => res.req.socket.end());
      else delivery.closing.add(res.req.socket);
      deliver(answer, delivery);
      break;
    default:
      action satisfies never;
  }
}

function writeHead(answer: Answer, { res, date, record }: Delivery, end: BodyEnd): void {
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

function sendPart(answer: Answer, bytes: number, delivery: Delivery, end: BodyEnd, then: () => void): void {
  const { res } = delivery;
  writeHead(answer, delivery, end);
  res.flushHeaders();
  const part = answer.body.subarray(0, bytes);
  if (part.length > 0) res.write(part, () => later(res, FLUSH_MS, then));
  else later(res, FLUSH_MS, then);
}

/** Calls `action` after `ms` milliseconds, unless the response is closed first. */
export function later(res: ServerResponse, ms: number, action: () => void): void {
  if (res.destroyed) return;
  const timer = setTimeout(action, ms);
  res.once("close", () => clearTimeout(timer));
}

function drip(res: ServerResponse, body: Buffer, bytes: number, everyMs: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    const part = body.subarray(sent, sent + bytes);
    sent += bytes;
    if (sent < body.length) {
      res.write(part);
    } else {
      clearInterval(timer);
      res.end(part);
    }
  }, everyMs);
  res.once("close", () => clearInterval(timer));
}

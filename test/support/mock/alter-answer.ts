import { alterItem, dropItems, duplicateItem } from "./alter-items.ts";
import { type HttpAnswer, httpError, withHeader } from "./answer.ts";
import type { AnswerAction, HeaderChanges } from "./faults.ts";

const HTML =
  "<!doctype html><html><head><title>Sign in</title></head><body><h1>Scheduled maintenance</h1></body></html>";

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Applies a fault's change to a correct answer. */
export function alterAnswer(answer: HttpAnswer, action: AnswerAction): HttpAnswer {
  switch (action.kind) {
    case "status":
      return withHeaders(
        withStatus(answer, action.status, action.body, action.keepBody ?? false),
        action.headers ?? {},
      );
    case "wrongBody":
      return withHeader(withBody(answer, readBody(action)), "content-type", readContentType(action.contentType));
    case "html":
      return withHeader(withBody(answer, Buffer.from(HTML)), "content-type", "text/html; charset=utf-8");
    case "headers":
      return withHeaders(answer, action.set);
    case "bom":
      return withBody(answer, Buffer.concat([BYTE_ORDER_MARK, answer.body]));
    case "dropItems":
      return dropItems(answer, action.from ?? 0, action.count ?? Number.POSITIVE_INFINITY);
    case "alterItem":
      return alterItem(answer, action);
    case "duplicateItem":
      return duplicateItem(answer, action.index, action.set);
    default:
      return action satisfies never;
  }
}

const withBody = (answer: HttpAnswer, body: Buffer): HttpAnswer => ({ ...answer, body, items: null });

function withStatus(answer: HttpAnswer, status: number, text: string | undefined, keepBody: boolean): HttpAnswer {
  if (keepBody) return { ...answer, status };
  return text === undefined
    ? httpError(status, `Answered ${status}`)
    : { ...withBody(answer, Buffer.from(text)), status };
}

function withHeaders(answer: HttpAnswer, changes: HeaderChanges): HttpAnswer {
  return Object.entries(changes).reduce((changed, [name, value]) => withHeader(changed, name, value), answer);
}

function readBody(body: { readonly text?: string; readonly base64?: string }): Buffer {
  return body.base64 === undefined ? Buffer.from(body.text ?? "") : Buffer.from(body.base64, "base64");
}

const readContentType = (type: string | null | undefined): string | null =>
  type === undefined ? "application/json; charset=utf-8" : type;

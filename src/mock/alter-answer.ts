import { alterItem, dropItems, duplicateItem } from "./alter-items.ts";
import { type Answer, errorAnswer, withHeader } from "./answer.ts";
import { breakUtf8, createGzipBomb, HTML, placeholderText } from "./bodies.ts";
import type { AnswerAction, HeaderChanges } from "./faults.ts";
import type { Operation } from "./route.ts";

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Applies a fault's change to a correct answer. */
export function alterAnswer(answer: Answer, action: AnswerAction, operation: Operation): Answer {
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
    case "badGzip":
      return withHeader(answer, "content-encoding", "gzip");
    case "unknownEncoding":
      return withHeader(answer, "content-encoding", action.encoding ?? "x-unheard-of");
    case "gzipBomb":
      return withHeader(withBody(answer, createGzipBomb(action.bytes)), "content-encoding", "gzip");
    case "redirect":
      return withHeader(errorAnswer(action.status ?? 302, "Moved"), "location", action.location);
    case "headers":
      return withHeaders(answer, action.set);
    case "hugeHeaders":
      return withHeaders(answer, createPadding(action.bytes ?? 128 * 1024));
    case "bom":
      return withBody(answer, Buffer.concat([BYTE_ORDER_MARK, answer.body]));
    case "invalidUtf8":
      return withBody(answer, breakUtf8(answer.body));
    case "emptyList":
      return withBody(answer, Buffer.from("[]"));
    case "placeholder":
      return withBody(answer, Buffer.from(placeholder(operation, action.inList ?? false)));
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

const withBody = (answer: Answer, body: Buffer): Answer => ({ ...answer, body, items: null });

function withStatus(answer: Answer, status: number, text: string | undefined, keepBody: boolean): Answer {
  if (keepBody) return { ...answer, status };
  return text === undefined
    ? errorAnswer(status, `Answered ${status}`)
    : { ...withBody(answer, Buffer.from(text)), status };
}

function withHeaders(answer: Answer, changes: HeaderChanges): Answer {
  return Object.entries(changes).reduce((changed, [name, value]) => withHeader(changed, name, value), answer);
}

function readBody(body: { readonly text?: string; readonly base64?: string }): Buffer {
  return body.base64 === undefined ? Buffer.from(body.text ?? "") : Buffer.from(body.base64, "base64");
}

const readContentType = (type: string | null | undefined): string | null =>
  type === undefined ? "application/json; charset=utf-8" : type;

const placeholder = (operation: Operation, inList: boolean): string =>
  inList ? `[${placeholderText(operation)}]` : placeholderText(operation);

/** Headers of a kilobyte each, as a proxy gone wrong piles them up. */
function createPadding(bytes: number): HeaderChanges {
  const value = "x".repeat(1_000);
  return Object.fromEntries(
    Array.from({ length: Math.ceil(bytes / 1_024) }, (_, index) => [`x-padding-${index}`, value]),
  );
}

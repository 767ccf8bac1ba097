import { JSON_TYPE } from "../../../src/mock/mock-service.ts";
import { type HttpAnswer, httpError, withHeader, withItems } from "./answer.ts";
import type { AlterItem, AnswerAction, HeaderChanges } from "./faults.ts";

const HTML =
  "<!doctype html><html><head><title>Sign in</title></head><body><h1>Scheduled maintenance</h1></body></html>";

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Applies a fault's change to a correct answer.
 * @throws if there is no such item. Otherwise such a fault would have no effect, and its test would prove nothing
 */
export function alterAnswer(answer: HttpAnswer, action: AnswerAction): HttpAnswer {
  switch (action.kind) {
    case "status":
      return withHeaders(
        withStatus(answer, action.status, action.body, action.keepBody ?? false),
        action.headers ?? {},
      );
    case "wrongBody": {
      const { body, contentType = JSON_TYPE } = action;
      return withHeader(withBody(answer, Buffer.from(body)), "content-type", contentType);
    }
    case "html":
      return withHeader(withBody(answer, Buffer.from(HTML)), "content-type", "text/html; charset=utf-8");
    case "headers":
      return withHeaders(answer, action.set);
    case "bom":
      return withBody(answer, Buffer.concat([BYTE_ORDER_MARK, answer.body]));
    case "dropItems": {
      const { from = 0, count = Number.POSITIVE_INFINITY } = action;
      const kept = itemsOf(answer).filter((_, index) => index < from || index >= from + count);
      return withItems(answer, kept);
    }
    case "alterItem": {
      const { index } = action;
      const items = index === "all" ? itemsOf(answer) : itemsWith(answer, index);
      return withItems(
        answer,
        items.map((item, at) => (index === "all" || at === index ? alterSource(item, action) : item)),
      );
    }
    case "duplicateItem": {
      const items = itemsWith(answer, action.index);
      const item = items[action.index] ?? "{}";
      return withItems(answer, [...items, action.set === undefined ? item : alterSource(item, action)]);
    }
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

function itemsOf(answer: HttpAnswer): readonly string[] {
  if (answer.items === null) throw new Error("this answer has no items to alter");
  return answer.items();
}

/** All items of an answer that has this one. */
function itemsWith(answer: HttpAnswer, index: number): readonly string[] {
  const items = itemsOf(answer);
  if (index >= items.length) throw new Error(`the answer has no item ${index}`);
  return items;
}

/** Changed fields keep their position, new ones are appended. */
function alterSource(source: string, change: Omit<AlterItem, "kind" | "index">): string {
  const fields = new Map<string, string>();
  for (const [name, value] of Object.entries(JSON.parse(source))) fields.set(name, JSON.stringify(value));
  for (const [name, value] of Object.entries(change.set ?? {})) fields.set(name, JSON.stringify(value));
  for (const [name, text] of Object.entries(change.setSource ?? {})) fields.set(name, text);
  for (const name of change.remove ?? []) fields.delete(name);
  return `{${Array.from(fields, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}

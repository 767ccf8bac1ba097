import { gzipSync } from "node:zlib";
import { alterItem, dropItems, duplicateItem } from "./alter-items.ts";
import { type HttpAnswer, httpError, withHeader } from "./answer.ts";
import type { AnswerAction, HeaderChanges, MockOperation } from "./faults.ts";

const HTML =
  "<!doctype html><html><head><title>Sign in</title></head><body><h1>Scheduled maintenance</h1></body></html>";

/** The answers of the documented mock: the names of the types instead of values. */
const PLACEHOLDERS = {
  listing: { libraryName: "string", uploadUser: "string", lastModified: "string" },
  metadata: {
    libraryName: "string",
    libraryOwner: "string",
    lastModified: "string",
    fileSize: "string",
    packageName: "string",
    packageVersion: "string",
    description: "string",
  },
  scenarios: {
    scenarioId: "integer",
    parentId: "integer",
    scenarioName: "string",
    isResult: "boolean",
    lastModified: "string",
    description: "string",
  },
} as const satisfies Record<MockOperation, unknown>;

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const BLANK_BLOCK_BYTES = 1 << 20;

/** Applies a fault's change to a correct answer. */
export function alterAnswer(answer: HttpAnswer, action: AnswerAction, operation: MockOperation): HttpAnswer {
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
      return withHeader(httpError(action.status ?? 302, "Moved"), "location", action.location);
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
      return withBody(answer, Buffer.from(placeholderText(operation, action.inList ?? false)));
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

const placeholderText = (operation: MockOperation, inList: boolean): string =>
  JSON.stringify(inList ? [PLACEHOLDERS[operation]] : PLACEHOLDERS[operation]);

/** Headers of about a kilobyte each, `bytes` in all. */
function createPadding(bytes: number): HeaderChanges {
  const value = "x".repeat(1_000);
  return Object.fromEntries(
    Array.from({ length: Math.ceil(bytes / 1_024) }, (_, index) => [`x-padding-${index}`, value]),
  );
}

/** A JSON array of blanks only, `bytes` long when decoded. It is sent as several gzip members. */
function createGzipBomb(bytes: number): Buffer {
  const blanks = Math.max(0, bytes - 2);
  const block = gzipSync(Buffer.alloc(BLANK_BLOCK_BYTES, " "), { level: 9 });
  const blocks = Array.from({ length: Math.floor(blanks / BLANK_BLOCK_BYTES) }, () => block);
  return Buffer.concat([gzipSync("["), ...blocks, gzipSync(`${" ".repeat(blanks % BLANK_BLOCK_BYTES)}]`)]);
}

/** Puts 0xFF into the first string value, or before the body if it has none. */
function breakUtf8(body: Buffer): Buffer {
  const valueStart = body.indexOf('":"');
  const position = valueStart === -1 ? 0 : valueStart + 3;
  return Buffer.concat([body.subarray(0, position), Buffer.from([0xff]), body.subarray(position)]);
}

import type { IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import {
  type Answer,
  entrySource,
  errorAnswer,
  listBytes,
  metadataSource,
  scenarioSource,
} from "../../../src/mock/answer.ts";
import { JSON_TYPE } from "../../../src/mock/respond.ts";
import type { Route } from "../../../src/mock/route.ts";
import type { Organization } from "../../../src/mock/types.ts";

/** An answer with its headers and its items, which faults alter. */
export interface HttpAnswer extends Answer {
  /** Alternating names and values, as `writeHead` takes them, without Content-Length and Date. */
  readonly headers: readonly string[];
  /** The `Date` header. Null: no header. Undefined: the time of the service's clock. */
  readonly date?: string | null;
  /** The JSON texts of the items in the body. Null if the body is neither a list nor an object of the service. */
  readonly items: (() => readonly string[]) | null;
  readonly isList: boolean;
}

/** An answer of the service, with the items that its body contains. */
export function httpAnswer(answer: Answer, route: Route, organization: Organization): HttpAnswer {
  const items = answer.status === 200 ? readItems(route, organization) : null;
  return { ...answer, headers: ["content-type", JSON_TYPE], items, isList: route.kind !== "metadata" };
}

function readItems(route: Route, organization: Organization): (() => readonly string[]) | null {
  if (route.kind === "listing") return () => organization.libraries().map(entrySource);
  const library = "owner" in route ? organization.get(route.owner, route.name) : undefined;
  if (library === undefined) return null;
  if (route.kind === "metadata") return () => [metadataSource(library)];
  return library.source?.scenarios === undefined ? () => library.scenarios.map(scenarioSource) : null;
}

export const httpError = (status: number, message: string): HttpAnswer => ({
  ...errorAnswer(status, message),
  headers: ["content-type", JSON_TYPE],
  items: null,
  isList: false,
});

/** The same answer with other items. */
export function withItems(answer: HttpAnswer, items: readonly string[]): HttpAnswer {
  const body = answer.isList ? listBytes(items, (item) => item) : Buffer.from(items.join(","));
  return { ...answer, body, items: () => items };
}

/** The same answer with one header set, or without it if `value` is null. */
export function withHeader(answer: HttpAnswer, name: string, value: string | readonly string[] | null): HttpAnswer {
  const lowerName = name.toLowerCase();
  if (lowerName === "date") return { ...answer, date: typeof value === "object" ? null : value };
  const others = answer.headers.filter((_, index) => answer.headers[index - (index % 2)]?.toLowerCase() !== lowerName);
  const values = value === null ? [] : typeof value === "string" ? [value] : value;
  return { ...answer, headers: [...others, ...values.flatMap((each) => [lowerName, each])] };
}

/** The compressed answer, if the client accepts gzip. */
export function compress(answer: HttpAnswer, req: IncomingMessage): HttpAnswer {
  if (!/\bgzip\b/.test(String(req.headers["accept-encoding"]))) return answer;
  if (answer.body.length === 0 || answer.headers.includes("content-encoding")) return answer;
  return withHeader({ ...answer, body: gzipSync(answer.body) }, "content-encoding", "gzip");
}

import type { IncomingMessage, ServerResponse } from "node:http";
import { type Answer, createAnswers, errorAnswer } from "./answer.ts";
import type { Route } from "./route.ts";
import type { Organization } from "./types.ts";

/** Returns a function that finds the answer to a request. */
export function createResponder(
  organization: Organization,
  apiKey: string,
): (req: IncomingMessage, route: Route) => Answer {
  const answers = createAnswers(organization);
  return ({ method, headers }, route) => {
    if (method !== "GET") return errorAnswer(405, "Method Not Allowed");
    if (headers["x-ss-api-key"] !== apiKey) return errorAnswer(401, "Unauthorized");
    if (route.kind === "listing") return answers.listing();
    if (route.kind === "malformed") return errorAnswer(400, route.reason);
    const library = "owner" in route ? organization.get(route.owner, route.name) : undefined;
    if (library === undefined) return errorAnswer(404, "Not Found");
    return route.kind === "metadata" ? answers.metadata(library) : answers.scenarios(library);
  };
}

export const JSON_TYPE = "application/json; charset=utf-8";

export function send(res: ServerResponse, { status, body }: Answer): void {
  res.writeHead(status, { "content-type": JSON_TYPE, "content-length": body.length }).end(body);
}

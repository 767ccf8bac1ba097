import type { Hash } from "node:crypto";
import type { StopSignal } from "../async.ts";
import { ContentError } from "../errors.ts";
import type { LibraryKey, ReceivedContent, Reject, ScenarioSink } from "../model.ts";
import type { AbortScope } from "./http/abort-scope.ts";
import { FailedGet, type GetRequest, get } from "./http/get.ts";
import { cachedMs, hasNextPage, header, readDate } from "./http/headers.ts";
import type { HttpContext } from "./http/http-context.ts";
import type { HttpResponse } from "./http/response.ts";
import { redactReject } from "./redact.ts";
import { toContentError } from "./service-errors.ts";
import { contentPaths } from "./urls.ts";
import { type ParsedMetadata, readMetadata } from "./wire/wire-metadata.ts";
import { readScenarioList, type ScenarioList } from "./wire/wire-scenarios.ts";

/** A library whose content is read. */
export interface RequestedLibrary extends LibraryKey {
  /** Its last read failed, so a wait that it asks for says nothing about the service. Default: false. */
  readonly failedBefore?: boolean;
}

/** The parsed metadata and scenarios, each with the response that it was read from. */
interface ContentResponses {
  readonly metadata: ParsedMetadata & { readonly bytes: Buffer; readonly response: HttpResponse };
  readonly scenarios: ScenarioList & { readonly hash: Hash; readonly response: HttpResponse };
}

/** Reads one library's content; its scenarios go into the sink. A failure aborts `scope`. */
export async function readContent(
  context: HttpContext,
  { failedBefore = false, ...key }: RequestedLibrary,
  sink: ScenarioSink,
  scope: AbortScope,
): Promise<ReceivedContent> {
  const responses = await getBoth(context, key, failedBefore, sink, scope);
  const { metadata, scenarios } = responses;
  const redacted = (reject: Reject): Reject => redactReject(reject, context.redact);
  if (scenarios.items > 0 && scenarios.accepted === 0) {
    const first = scenarios.rejects[0]?.reason ?? "no reason given";
    const none = scenarios.items === 1 ? "the only scenario cannot" : `not one of the ${scenarios.items} scenarios can`;
    const message = `${none} be stored (the first: ${first})`;
    throw new ContentError("all_rejected", message, { rejects: scenarios.rejects.slice(0, 1).map(redacted) });
  }
  const link = header(scenarios.response.headers, "link") ?? "";
  const paged = hasNextPage(link) ? [rejectPagedList(key, link)] : [];
  const both = [metadata.response, scenarios.response];
  const dates = both.map(({ headers }) => readDate(headers));
  return {
    metadata: metadata.metadata,
    rejects: [...metadata.rejects, ...scenarios.rejects, ...paged].map(redacted),
    items: scenarios.items,
    present: scenarios.present,
    digest: digestOf(responses),
    sentAt: Math.min(...both.map(({ sentAt }) => sentAt)),
    date: dates.includes(null) ? null : Math.min(...dates.filter((date) => date !== null)),
    cached: both.some(({ headers }) => cachedMs(headers) > 0),
  };
}

/** Keeps no scenario: the caller needs only what `ReceivedContent` says. */
export const DISCARD: ScenarioSink = {
  restart: async () => {},
  add: async () => {},
  sources: async () => new Map(),
  remove: async () => {},
};

/** Requests metadata and scenarios at the same time. The first failure aborts the other request. */
async function getBoth(
  context: HttpContext,
  key: LibraryKey,
  failedBefore: boolean,
  sink: ScenarioSink,
  scope: AbortScope,
): Promise<ContentResponses> {
  const paths = contentPaths(context.basePath, key);
  const getOrAbort = async <T>(request: GetRequest<T>): Promise<T | null> => {
    try {
      return await get(context, request, scope);
    } catch (error) {
      scope.abort(error instanceof FailedGet ? toContentError(error, context) : error);
      return null;
    }
  };
  const guarded = abortableSink(sink, scope);
  let isFirstAttempt = true;
  // Wait for both, so that the sink is not called after this function has returned.
  const [metadata, scenarios] = await Promise.all([
    getOrAbort({
      operation: "metadata",
      path: paths.metadata,
      resource: paths.library,
      failedBefore,
      parse: async (response) => ({ response, ...(await readMetadata(response, key)) }),
    }),
    getOrAbort({
      operation: "scenarios",
      path: paths.scenarios,
      resource: paths.library,
      failedBefore,
      parse: async (response) => {
        if (!isFirstAttempt) await guarded.restart();
        isFirstAttempt = false;
        return { response, ...(await readScenarioList(response, key, guarded)) };
      },
    }),
  ]);
  if (metadata === null || scenarios === null) throw scope.reason;
  return { metadata, scenarios };
}

/** The sink, except that it receives no further call after an abort. */
function abortableSink(sink: ScenarioSink, signal: StopSignal): ScenarioSink {
  const unlessAborted = async <T>(call: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    return call();
  };
  return {
    restart: () => unlessAborted(() => sink.restart()),
    add: (scenarios) => unlessAborted(() => sink.add(scenarios)),
    sources: (ids) => unlessAborted(() => sink.sources(ids)),
    remove: (id) => unlessAborted(() => sink.remove(id)),
  };
}

/** Hashes both bodies plus the length of one, so that moving a byte between them changes the digest. */
function digestOf({ metadata: { bytes }, scenarios: { hash } }: ContentResponses): string {
  return hash.update(bytes).update(`\n${bytes.length}`).digest("hex");
}

function rejectPagedList(key: LibraryKey, link: string): Reject {
  const reason = "the service sent only one page of the scenarios, and simcat knows no way to ask for the rest";
  return { key, kind: "scenario", code: "paged_answer", path: "", reason, payload: link };
}

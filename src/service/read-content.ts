import { ContentError } from "../errors.ts";
import type { ContentRead, LibraryKey, Reject, ScenarioSink } from "../model.ts";
import {
  type MetadataAnswer,
  readMetadataAnswer,
  readScenariosAnswer,
  type ScenariosAnswer,
} from "./content-answers.ts";
import { type GuardedSink, guardSink } from "./guard-sink.ts";
import type { Ask, Desk } from "./http/desk.ts";
import { get } from "./http/get.ts";
import { dateOf, header, wasCached } from "./http/headers.ts";
import type { Life } from "./http/life.ts";
import { namesNextPage } from "./http/link-header.ts";
import { hideInReject } from "./http/printable.ts";
import type { ContentPaths } from "./urls.ts";

export interface ContentRequest {
  readonly key: LibraryKey;
  readonly sink: ScenarioSink;
  readonly paths: ContentPaths;
  /** Takes secrets out of text that the service sent. */
  readonly hide: (text: string) => string;
}

interface Both {
  readonly metadata: MetadataAnswer;
  readonly scenarios: ScenariosAnswer;
}

/** Asks for metadata and scenarios at once; the first of the two that fails for good calls the other one off. */
async function askBoth(request: ContentRequest, sink: GuardedSink, desk: Desk, life: Life): Promise<Both> {
  const { key, paths } = request;
  const ask = async <T>(what: Ask<T>): Promise<T | null> => {
    try {
      return await get(desk, what, life);
    } catch (error) {
      life.end(error);
      return null;
    }
  };
  // Both have ended before anybody learns of it, so that nothing goes into the sink behind its owner's back.
  const [metadata, scenarios] = await Promise.all([
    ask({
      operation: "metadata",
      path: paths.metadata,
      resource: paths.library,
      patient: true,
      read: (answer) => readMetadataAnswer(answer, key),
    }),
    ask({
      operation: "scenarios",
      path: paths.scenarios,
      resource: paths.library,
      patient: true,
      read: (answer) => readScenariosAnswer(answer, key, sink),
    }),
  ]);
  if (metadata === null || scenarios === null) throw life.reason;
  return { metadata, scenarios };
}

function rejectPaged(key: LibraryKey, link: string): Reject {
  const reason = "the service sent only one page of the scenarios, and simcat knows no way to ask for the rest";
  return { key, kind: "scenario", code: "paged_answer", path: "", reason, payload: link };
}

/** Of the decoded bytes of both, and behind them where the one ends, so that no byte can pass from one to the other. */
function digestOf({ metadata: { bytes }, scenarios: { hash } }: Both): string {
  return hash.update(bytes).update(`\n${bytes.length}`).digest("hex");
}

/** Reads one library's content; `life` is ended by what goes wrong. Throws FailedGet, ContentError, or the sink's own. */
export async function readLibraryContent(request: ContentRequest, desk: Desk, life: Life): Promise<ContentRead> {
  const { key, hide } = request;
  const sink = guardSink(request.sink, life);
  const both = await askBoth(request, sink, desk, life);
  const { metadata, scenarios } = both;
  const hidden = (reject: Reject): Reject => hideInReject(reject, hide);
  if (scenarios.items > 0 && sink.kept() === 0) {
    const first = scenarios.rejects[0]?.reason ?? "no reason given";
    const message = `not one of the ${scenarios.items} scenarios can be stored (the first: ${first})`;
    throw new ContentError("all_rejected", message, { rejects: scenarios.rejects.slice(0, 1).map(hidden) });
  }
  const link = header(scenarios.answer.headers, "link") ?? "";
  const paged = namesNextPage(link) ? [rejectPaged(key, link)] : [];
  const [one, other] = [dateOf(metadata.answer.headers), dateOf(scenarios.answer.headers)];
  return {
    metadata: metadata.metadata,
    rejects: [...metadata.rejects, ...scenarios.rejects, ...paged].map(hidden),
    items: scenarios.items,
    present: scenarios.present,
    digest: digestOf(both),
    startedAt: Math.min(metadata.answer.sentAt, scenarios.answer.sentAt),
    date: one === null || other === null ? null : Math.min(one, other),
    cached: wasCached(metadata.answer.headers) || wasCached(scenarios.answer.headers),
  };
}

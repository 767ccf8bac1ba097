import { createHash, type Hash } from "node:crypto";
import type { DriftField, LibraryKey, Reject, Scenario, ScenarioId, ScenarioSink } from "../../model.ts";
import { jsonEqual } from "../json/exact-json.ts";
import { UntrustedResponse } from "../json/parse-errors.ts";
import { createIdSet } from "../off-heap/id-set.ts";
import { type ItemError, notAnObject, rejectItem } from "./item-error.ts";
import { type ByteSource, createArraySplitter, type ListItem } from "./json-array.ts";
import { readScenarioItem, type ScenarioItem } from "./scenario-item.ts";
import {
  hasAnyField,
  isJsonObject,
  isPlaceholder,
  type JsonObject,
  MOCK_ADVICE,
  SCENARIO_FIELDS,
} from "./specification.ts";

export interface ScenarioList {
  /** At most one per item. */
  readonly rejects: readonly Reject[];
  /** Items of the list, good and bad. */
  readonly items: number;
  /** Scenarios that are in the sink. */
  readonly accepted: number;
  /** Number of items that had the field, null or not. */
  readonly present: Readonly<Record<DriftField, number>>;
}

/**
 * Reads a scenario list (specification 4.3) into the sink while it arrives. `hash` is the SHA-256 of the bytes, open for
 * more.
 * @throws MalformedJson and UntrustedResponse
 */
export async function readScenarioList(
  body: ByteSource,
  key: LibraryKey,
  sink: ScenarioSink,
): Promise<ScenarioList & { hash: Hash }> {
  const hash = createHash("sha256");
  const splitter = createArraySplitter();
  const reader = createScenarioReader(key, sink);
  for (let bytes = await body.read(); bytes !== null; bytes = await body.read()) {
    hash.update(bytes);
    await reader.add(splitter.push(bytes), splitter.prechecked());
  }
  splitter.end();
  return { hash, ...reader.finish() };
}

interface ScenarioReader {
  /** Passes the good items to the sink, in order. One call at a time. `prechecked` is the splitter's. */
  add(items: readonly ListItem[], prechecked?: boolean): Promise<void>;
  /** @throws UntrustedResponse */
  finish(): ScenarioList;
}

/** Characters of payload that the rejects of one list may hold. Only the first hundred of a library are ever stored. */
const MAX_PAYLOAD_CHARS = 32 * 1024 * 1024;

const CONTRADICTION: ItemError = {
  code: "contradiction",
  path: "scenarioId",
  reason: "another item of the list has the same scenarioId and says something else",
};

/** Repeated items are compared with the first ones in groups of this size, because a staged list costs one query per group. */
const COMPARED_AT_ONCE = 100;

/** An item with the id of an earlier, good one. */
interface RepeatedItem {
  readonly id: ScenarioId;
  readonly item: ScenarioItem;
  readonly source: string;
}

export function createScenarioReader(key: LibraryKey, sink: ScenarioSink): ScenarioReader {
  /** Ids that were passed to the sink, including those that were removed from it. */
  const seen = createIdSet();
  /** Ids that were rejected. Every further item with such an id is rejected too. */
  const rejectedIds = new Set<ScenarioId>();
  const present = { scenarioName: 0, isResult: 0, lastModified: 0 };
  const rejects: Reject[] = [];
  let items = 0;
  let accepted = 0;
  let placeholders = 0;
  let payloadChars = 0;
  let hasKnownField = false;

  function reject(error: ItemError, source: string): void {
    payloadChars += source.length;
    rejects.push(rejectItem(key, "scenario", error, payloadChars > MAX_PAYLOAD_CHARS ? "" : source));
  }

  function countFields(object: JsonObject): void {
    if (Object.hasOwn(object, "scenarioName")) present.scenarioName++;
    if (Object.hasOwn(object, "isResult")) present.isResult++;
    if (Object.hasOwn(object, "lastModified")) present.lastModified++;
    hasKnownField ||= hasAnyField(object, SCENARIO_FIELDS);
    if (placeholders === items && isPlaceholder(object, SCENARIO_FIELDS)) placeholders++;
  }

  function readItem({ source, value }: ListItem, prechecked: boolean): ScenarioItem {
    if (isJsonObject(value)) countFields(value);
    items++;
    if (!isJsonObject(value)) return { kind: "bad", id: null, error: notAnObject(value) };
    return readScenarioItem(value, source, prechecked);
  }

  function rejectRepeated({ item, source }: RepeatedItem): void {
    reject(item.kind === "bad" ? item.error : CONTRADICTION, source);
  }

  async function compareRepeated(group: readonly RepeatedItem[]): Promise<void> {
    const sources = await sink.sources(group.map(({ id }) => id));
    for (const repeated of group) {
      const { id, item, source } = repeated;
      const first = sources.get(id);
      if (!rejectedIds.has(id)) {
        if (item.kind === "good" && (first === undefined || jsonEqual(first, source))) continue;
        await sink.remove(id);
        accepted--;
        rejectedIds.add(id);
        if (first !== undefined) reject(CONTRADICTION, first);
      }
      rejectRepeated(repeated);
    }
  }

  async function add(listed: readonly ListItem[], prechecked = false): Promise<void> {
    const good: Scenario[] = [];
    const repeated: RepeatedItem[] = [];
    for (const listItem of listed) {
      const { source } = listItem;
      const item = readItem(listItem, prechecked);
      const { id } = item;
      if (id !== null && rejectedIds.has(id)) rejectRepeated({ id, item, source });
      else if (id !== null && seen.has(id)) repeated.push({ id, item, source });
      else if (item.kind === "good") {
        seen.add(item.id);
        good.push(item.scenario);
      } else {
        if (id !== null) rejectedIds.add(id);
        reject(item.error, source);
      }
    }
    if (good.length > 0) await sink.add(good);
    accepted += good.length;
    for (let start = 0; start < repeated.length; start += COMPARED_AT_ONCE) {
      await compareRepeated(repeated.slice(start, start + COMPARED_AT_ONCE));
    }
  }

  function finish(): ScenarioList {
    if (items > 0 && placeholders === items) {
      throw new UntrustedResponse(`a scenario list of placeholders: ${MOCK_ADVICE}`);
    }
    if (items > 0 && !hasKnownField) {
      throw new UntrustedResponse(`a list of ${items} items without one field of a scenario`);
    }
    return { rejects, items, accepted, present };
  }

  return { add, finish };
}

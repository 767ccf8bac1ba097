import { crc32 } from "node:zlib";
import type { DriftField, LibraryKey, Reject, Scenario, ScenarioId, ScenarioSink } from "../../model.ts";
import { openSeenIds } from "../compact/seen-ids.ts";
import { UntrustedAnswer } from "../untrusted-answer.ts";
import { type Fault, notAnObject, rejectItem } from "./fault.ts";
import type { ListItem } from "./json-array.ts";
import { isPlaceholder, MOCK_ADVICE } from "./placeholders.ts";
import { saySame } from "./same-content.ts";
import { readScenarioItem, type ScenarioItem } from "./scenario-item.ts";
import { hasAnyField, isJsonObject, type JsonObject, SCENARIO_FIELDS } from "./specification.ts";

export interface ScenarioListReader {
  /** Hands the good ones on, in order. `plain` as the splitter says it. One call at a time. */
  add(items: readonly ListItem[], plain?: boolean): Promise<void>;
  /** Throws UntrustedAnswer. Each item gave at most one reject. */
  finish(): { rejects: Reject[]; items: number; present: Record<DriftField, number> };
}

/** In place of text or checksum: this id was rejected, and so is whatever else claims it. */
const REFUSED = -1;
/** Characters of payload that the rejects of one list may hold; only the first hundred of a library are ever stored. */
const PAYLOADS = 32 * 1024 * 1024;

const CONTRADICTION: Fault = {
  code: "contradiction",
  path: "scenarioId",
  reason: "another item of the list has the same scenarioId and says something else",
};

/**
 * Items of which the text itself is kept to compare with; hashing them would be a tenth of reading a small list. Of the
 * others it is 32 bits: to keep their texts would be to keep the whole list.
 */
const REMEMBERED = 1000;

/** Reads the scenario list of one library (specification 4.3), item by item. */
export function readScenarios(key: LibraryKey, sink: ScenarioSink): ScenarioListReader {
  const seen = openSeenIds();
  const present = { scenarioName: 0, isResult: 0, lastModified: 0 };
  const rejects: Reject[] = [];
  let good: Scenario[] = [];
  let items = 0;
  let placeholders = 0;
  let payloads = 0;
  let recognized = false;

  function reject(fault: Fault, source: string): void {
    payloads += source.length;
    rejects.push(rejectItem(key, "scenario", fault, payloads > PAYLOADS ? "" : source));
  }

  function note(object: JsonObject): void {
    if (Object.hasOwn(object, "scenarioName")) present.scenarioName++;
    if (Object.hasOwn(object, "isResult")) present.isResult++;
    if (Object.hasOwn(object, "lastModified")) present.lastModified++;
    recognized ||= hasAnyField(object, SCENARIO_FIELDS);
    if (placeholders === items && isPlaceholder(object, SCENARIO_FIELDS)) placeholders++;
  }

  function read({ source, value }: ListItem, plain: boolean): ScenarioItem {
    if (isJsonObject(value)) note(value);
    items++;
    if (!isJsonObject(value)) return { kind: "bad", id: null, fault: notAnObject(value) };
    return readScenarioItem(value, source, plain);
  }

  async function flush(): Promise<void> {
    const batch = good;
    good = [];
    if (batch.length > 0) await sink.add(batch);
  }

  /** For an item whose id an earlier, good one has. */
  async function compare(id: ScenarioId, item: ScenarioItem, source: string): Promise<void> {
    const known = seen.get(id);
    if (item.kind === "good" && known === (typeof known === "string" ? source : crc32(source))) return;
    await flush();
    const earlier = await sink.source(id);
    if (item.kind === "good" && earlier !== null && saySame(earlier, source)) return;
    await sink.remove(id);
    seen.set(id, REFUSED);
    if (earlier !== null) reject(CONTRADICTION, earlier);
    reject(item.kind === "bad" ? item.fault : CONTRADICTION, source);
  }

  async function add(listed: readonly ListItem[], plain = false): Promise<void> {
    for (const one of listed) {
      const { source } = one;
      const item = read(one, plain);
      const earlier = item.id === null ? undefined : seen.get(item.id);
      if (item.id !== null && earlier !== undefined && earlier !== REFUSED) await compare(item.id, item, source);
      else if (item.kind === "good" && earlier === undefined) {
        seen.set(item.id, items > REMEMBERED ? crc32(source) : source);
        good.push(item.scenario);
      } else {
        if (item.id !== null) seen.set(item.id, REFUSED);
        reject(item.kind === "bad" ? item.fault : CONTRADICTION, source);
      }
    }
    await flush();
  }

  function finish(): { rejects: Reject[]; items: number; present: Record<DriftField, number> } {
    if (items > 0 && placeholders === items) {
      throw new UntrustedAnswer(`a scenario list of placeholders: ${MOCK_ADVICE}`);
    }
    if (items > 0 && !recognized) {
      throw new UntrustedAnswer(`a list of ${items} items without one field of a scenario`);
    }
    return { rejects, items, present };
  }

  return { add, finish };
}

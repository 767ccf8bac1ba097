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

/** Characters of payload that the rejects of one list may hold; only the first hundred of a library are ever stored. */
const PAYLOADS = 32 * 1024 * 1024;

const CONTRADICTION: Fault = {
  code: "contradiction",
  path: "scenarioId",
  reason: "another item of the list has the same scenarioId and says something else",
};

/** Repetitions that are compared with their first items at once: one query for a list that was staged. */
const COMPARED_AT_ONCE = 100;

/** An item whose id an earlier, good one has. */
interface Repetition {
  readonly id: ScenarioId;
  readonly item: ScenarioItem;
  readonly source: string;
}

/** Reads the scenario list of one library (specification 4.3), item by item. */
export function readScenarios(key: LibraryKey, sink: ScenarioSink): ScenarioListReader {
  /** Ids of the items in the sink, and of the refused ones that were there. */
  const seen = openSeenIds();
  /** Rejected, and so is whatever else has such an id. */
  const refused = new Set<ScenarioId>();
  const present = { scenarioName: 0, isResult: 0, lastModified: 0 };
  const rejects: Reject[] = [];
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

  function rejectRepetition({ item, source }: Repetition): void {
    reject(item.kind === "bad" ? item.fault : CONTRADICTION, source);
  }

  async function compare(repetitions: readonly Repetition[]): Promise<void> {
    const sources = await sink.sources(repetitions.map(({ id }) => id));
    for (const repetition of repetitions) {
      const { id, item, source } = repetition;
      const first = sources.get(id);
      if (!refused.has(id)) {
        if (item.kind === "good" && (first === undefined || saySame(first, source))) continue;
        await sink.remove(id);
        refused.add(id);
        if (first !== undefined) reject(CONTRADICTION, first);
      }
      rejectRepetition(repetition);
    }
  }

  async function add(listed: readonly ListItem[], plain = false): Promise<void> {
    const good: Scenario[] = [];
    const repetitions: Repetition[] = [];
    for (const one of listed) {
      const { source } = one;
      const item = read(one, plain);
      const { id } = item;
      if (id !== null && refused.has(id)) rejectRepetition({ id, item, source });
      else if (id !== null && seen.has(id)) repetitions.push({ id, item, source });
      else if (item.kind === "good") {
        seen.add(item.id);
        good.push(item.scenario);
      } else {
        if (id !== null) refused.add(id);
        reject(item.fault, source);
      }
    }
    if (good.length > 0) await sink.add(good);
    for (let at = 0; at < repetitions.length; at += COMPARED_AT_ONCE) {
      await compare(repetitions.slice(at, at + COMPARED_AT_ONCE));
    }
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

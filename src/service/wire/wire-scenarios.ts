import { createHash, type Hash } from "node:crypto";
import {
  type DriftField,
  type LibraryKey,
  type Reject,
  SCENARIO_FIELDS,
  type Scenario,
  type ScenarioId,
  type ScenarioSink,
} from "../../model.ts";
import { createIdSet } from "../../off-heap/hash-index.ts";
import { jsonEqual, parseExact } from "../json/exact-json.ts";
import { Decimal, mayLoseDigits } from "../json/json-text.ts";
import { UntrustedResponse } from "../json/parse-errors.ts";
import { type ByteSource, createArraySplitter, type ListItem } from "./json-array.ts";
import {
  hasAnyField,
  type ItemError,
  isJsonObject,
  isPlaceholder,
  type JsonObject,
  MOCK_ADVICE,
  notAnObject,
  readFields,
  rejectItem,
  wrongField,
} from "./specification.ts";
import { findUnstorable } from "./storable.ts";

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

const OTHER_ITEM: ItemError = {
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
    hasKnownField ||= value === undefined;
    items++;
    if (!isJsonObject(value)) return { kind: "bad", id: null, error: notAnObject(value) };
    return readScenarioItem(value, source, prechecked);
  }

  function rejectRepeated({ item, source }: RepeatedItem): void {
    reject(item.kind === "bad" ? item.error : OTHER_ITEM, source);
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
        if (first !== undefined) reject(OTHER_ITEM, first);
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
      throw new UntrustedResponse(
        `a list of ${items === 1 ? "1 item" : `${items} items`} without one field of a scenario`,
      );
    }
    return { rejects, items, accepted, present };
  }

  return { add, finish };
}

export type ScenarioItem =
  | { readonly kind: "good"; readonly id: ScenarioId; readonly scenario: Scenario }
  | { readonly kind: "bad"; readonly id: ScenarioId | null; readonly error: ItemError };

/** `prechecked` is the result of `needsNoCheck` for a chunk that contains the item. */
export function readScenarioItem(object: JsonObject, source: string, prechecked: boolean): ScenarioItem {
  const unstorable = findUnstorable(source, object, prechecked);
  const mayBeRounded = !prechecked && mayLoseDigits(source);
  if (unstorable?.code === "too_deep") {
    return { kind: "bad", id: certainId(object, mayBeRounded), error: unstorable };
  }
  const id = readInteger(object, "scenarioId", source, mayBeRounded);
  if (isItemError(id)) return { kind: "bad", id: null, error: unstorable ?? id };
  if (unstorable !== null) return { kind: "bad", id, error: unstorable };
  const parent = object.parentId ?? null;
  const parentId = parent === null ? null : readInteger(object, "parentId", source, mayBeRounded);
  if (isItemError(parentId)) return { kind: "bad", id, error: parentId };
  const fields = readFields(object, SCENARIO_FIELDS);
  if (fields.error !== null) return { kind: "bad", id, error: fields.error };
  const { scenarioName: name, isResult, lastModified, description } = fields.values;
  const scenario = { id, parentId, name, isResult, lastModified, description, source };
  return { kind: "good", id, scenario };
}

function isItemError(value: ScenarioId | ItemError | null): value is ItemError {
  return typeof value === "object" && value !== null;
}

/** The id of an item that nests too deep to be parsed again; null if it may be rounded. */
function certainId(object: JsonObject, mayBeRounded: boolean): ScenarioId | null {
  const value = object.scenarioId;
  return typeof value === "number" && Number.isSafeInteger(value) && !mayBeRounded ? value : null;
}

/**
 * A field as an exact integer. `object` is the parsed `source`, which is parsed again if that lost digits: for a number
 * that is not a safe integer, and for any number if `mayBeRounded`.
 */
function readInteger(object: JsonObject, field: string, source: string, mayBeRounded: boolean): ScenarioId | ItemError {
  const value = object[field];
  if (typeof value !== "number") return wrongField(object, field, "integer");
  if (Number.isSafeInteger(value) && !mayBeRounded) return value === 0 ? 0 : value;
  const exact = parseExact(source, parseInteger);
  const integer = isJsonObject(exact) ? exact[field] : undefined;
  if (typeof integer === "number" || typeof integer === "bigint") return integer;
  if (integer === "out of range") {
    return { code: "out_of_range", path: field, reason: `${field} is an integer beyond ±(2^63−1)` };
  }
  return { code: "wrong_type", path: field, reason: `${field} is a number with a fraction, an integer was expected` };
}

const MAX_INTEGER = 2n ** 63n - 1n;
const MAX_INTEGER_DIGITS = 19;

/** The exact integer of a JSON numeral; `7.0` and `1e2` are integers. */
function parseInteger(numeral: string): ScenarioId | "fraction" | "out of range" {
  const { digits, exponent } = new Decimal(numeral);
  if (digits === "") return 0;
  if (exponent < 0) return "fraction";
  if (digits.length + exponent > "-".length + MAX_INTEGER_DIGITS) return "out of range";
  const value = BigInt(digits + "0".repeat(exponent));
  if (value > MAX_INTEGER || value < -MAX_INTEGER) return "out of range";
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

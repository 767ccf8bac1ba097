import { createHash } from "node:crypto";
import type { StopSignal } from "../../async.ts";
import {
  DRIFT_FIELDS,
  type FieldValues,
  type LibraryKey,
  type Reject,
  SCENARIO_FIELDS,
  type Scenario,
  type ScenarioId,
  type ScenarioSink,
} from "../../model.ts";
import { createIdSet } from "../../off-heap.ts";
import {
  createListCheck,
  findWrongField,
  type ItemError,
  isJsonObject,
  type JsonObject,
  notAnObject,
  wrongField,
} from "./item-checks.ts";
import { type ByteSource, createArraySplitter, type ListItem } from "./json-array.ts";
import { Decimal, findUnstorable, isTooDeep, jsonEqual, mayLoseDigits, parseExact } from "./storable-json.ts";

/** Characters of payload that the rejects of one list may hold. Only the first hundred of a library are ever stored. */
const MAX_PAYLOAD_CHARS = 32 * 1024 * 1024;

const OTHER_ITEM: ItemError = {
  code: "contradiction",
  path: "scenarioId",
  reason: "another item of the list has the same scenarioId and says something else",
};

/**
 * Reads a scenario list (specification 4.3) into the sink while it arrives. `hash` is the SHA-256 of the bytes, open for
 * more. After an abort the sink receives no further call.
 * @throws InvalidResponse
 */
export async function readScenarioList(body: ByteSource, key: LibraryKey, sink: ScenarioSink, signal: StopSignal) {
  const hash = createHash("sha256");
  const splitter = createArraySplitter();
  const check = createListCheck(SCENARIO_FIELDS, "scenario");
  /** Ids that were passed to the sink, including those that were removed from it. */
  const seen = createIdSet();
  /** Ids that were rejected. Every further item with such an id is rejected too. */
  const rejectedIds = new Set<ScenarioId>();
  /** Number of items that had the field, null or not. */
  const present = { scenarioName: 0, isResult: 0, lastModified: 0 };
  /** At most one per item. */
  const rejects: Reject[] = [];
  /** Scenarios that are in the sink. */
  let accepted = 0;
  let payloadChars = 0;

  function reject(error: ItemError, source: string): void {
    payloadChars += source.length;
    rejects.push({ key, kind: "scenario", ...error, payload: payloadChars > MAX_PAYLOAD_CHARS ? "" : source });
  }

  function readItem({ source, value, isPlain }: ListItem): Scenario | BadScenario {
    check.add(value);
    if (!isJsonObject(value)) return { id: null, error: notAnObject(value) };
    for (const field of DRIFT_FIELDS) if (Object.hasOwn(value, field)) present[field]++;
    return readScenario(value, source, isPlain);
  }

  /** Compares items with the first ones of their ids. */
  async function addRepeated(repeated: readonly RepeatedItem[]): Promise<void> {
    signal.throwIfAborted();
    const sources = await sink.sources(repeated.map(({ id }) => id));
    for (const { id, source, error } of repeated) {
      const first = sources.get(id);
      if (!rejectedIds.has(id)) {
        if (error === null && (first === undefined || jsonEqual(first, source))) continue;
        signal.throwIfAborted();
        await sink.remove(id);
        accepted--;
        rejectedIds.add(id);
        if (first !== undefined) reject(OTHER_ITEM, first);
      }
      reject(error ?? OTHER_ITEM, source);
    }
  }

  /** Passes the good items to the sink, in order. One call at a time. */
  async function add(listed: readonly ListItem[]): Promise<void> {
    const good: Scenario[] = [];
    const repeated: RepeatedItem[] = [];
    for (const listItem of listed) {
      const item = readItem(listItem);
      const { id } = item;
      const { source } = listItem;
      const error = "error" in item ? item.error : null;
      if (id !== null && rejectedIds.has(id)) reject(error ?? OTHER_ITEM, source);
      else if (id !== null && seen.has(id)) repeated.push({ id, source, error });
      else if ("error" in item) {
        if (id !== null) rejectedIds.add(id);
        reject(item.error, source);
      } else {
        seen.add(item.id);
        good.push(item);
      }
    }
    signal.throwIfAborted();
    if (good.length > 0) await sink.add(good);
    accepted += good.length;
    if (repeated.length > 0) await addRepeated(repeated);
  }

  signal.throwIfAborted();
  // An earlier attempt may have added the first items.
  await sink.restart();
  for (let bytes = await body.read(); bytes !== null; bytes = await body.read()) {
    hash.update(bytes);
    await add(splitter.push(bytes));
  }
  splitter.end();
  check.finish();
  signal.throwIfAborted();
  return { hash, rejects, items: check.items(), accepted, present, scenarios: await sink.finish() };
}

/** A scenario that cannot be stored. Its id is null if it cannot be read. */
interface BadScenario {
  readonly id: ScenarioId | null;
  readonly error: ItemError;
}

/** An item with the id of an earlier, good one. Its error is null if it is good itself. */
interface RepeatedItem {
  readonly id: ScenarioId;
  readonly source: string;
  readonly error: ItemError | null;
}

function readScenario(object: JsonObject, source: string, isPlain: boolean): Scenario | BadScenario {
  const mayBeRounded = !isPlain && mayLoseDigits(source);
  const unstorable = findUnstorable(source, object, isPlain);
  const id = readInteger(object, "scenarioId", source, mayBeRounded);
  if (typeof id === "object") return { id: null, error: unstorable ?? id };
  if (unstorable !== null) return { id, error: unstorable };
  const parent = object.parentId ?? null;
  const parentId = parent === null ? null : readInteger(object, "parentId", source, mayBeRounded);
  if (parentId !== null && typeof parentId === "object") return { id, error: parentId };
  const error = findWrongField(object, SCENARIO_FIELDS);
  if (error !== null) return { id, error };
  const sent: Partial<FieldValues<typeof SCENARIO_FIELDS>> = object;
  const { scenarioName: name = null, isResult = null, lastModified = null, description = null } = sent;
  return { id, parentId, name, isResult, lastModified, description, source };
}

/**
 * A field as an exact integer. `object` is the parsed `source`, which is parsed again if that lost digits: for a number
 * that is not a safe integer, and for any number if `mayBeRounded`.
 */
function readInteger(object: JsonObject, field: string, source: string, mayBeRounded: boolean): ScenarioId | ItemError {
  const value = object[field];
  if (typeof value !== "number") return wrongField(object, field, "integer");
  // JSON.parse makes -0 of "-0".
  if (Number.isSafeInteger(value) && !mayBeRounded) return value === 0 ? 0 : value;
  // The nesting of such an item is the reason for its reject, whatever its id is.
  const exact = isTooDeep(source) ? null : parseExact(source, parseInteger);
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

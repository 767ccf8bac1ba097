import { z } from "zod";
import type { Scenario, ScenarioId } from "../../model.ts";
import { mayLoseDigits } from "../json/exact-json.ts";
import { readInteger } from "./exact-integer.ts";
import { type Fault, wrongField } from "./fault.ts";
import { type JsonObject, SCENARIO_FIELDS } from "./specification.ts";
import { findUnstorable } from "./storable.ts";

/** Types alone (specification 2.3). The two integers are read from the source text, which knows more than a double. */
const schema = z.object({
  scenarioName: z.string().nullish(),
  isResult: z.boolean().nullish(),
  lastModified: z.string().nullish(),
  description: z.string().nullish(),
});

export type ScenarioItem =
  | { readonly kind: "good"; readonly id: ScenarioId; readonly scenario: Scenario }
  | { readonly kind: "bad"; readonly id: ScenarioId | null; readonly fault: Fault };

function isFault(value: ScenarioId | Fault | null): value is Fault {
  return typeof value === "object" && value !== null;
}

/** What nests too deep is not parsed a second time: its id counts only where there is no doubt about it. */
function certainId(object: JsonObject, doubtful: boolean): ScenarioId | null {
  const value = object.scenarioId;
  return typeof value === "number" && Number.isSafeInteger(value) && !doubtful ? value : null;
}

/** `plain`: what `isPlain` said of a text around the item. */
export function readScenarioItem(object: JsonObject, source: string, plain: boolean): ScenarioItem {
  const unstorable = findUnstorable(source, object, plain);
  const doubtful = !plain && mayLoseDigits(source);
  if (unstorable?.code === "too_deep") return { kind: "bad", id: certainId(object, doubtful), fault: unstorable };
  const id = readInteger(object, "scenarioId", source, doubtful);
  if (isFault(id)) return { kind: "bad", id: null, fault: unstorable ?? id };
  if (unstorable !== null) return { kind: "bad", id, fault: unstorable };
  const parent = object.parentId ?? null;
  const parentId = parent === null ? null : readInteger(object, "parentId", source, doubtful);
  if (isFault(parentId)) return { kind: "bad", id, fault: parentId };
  const checked = schema.safeParse(object);
  if (!checked.success) {
    const field = String(checked.error.issues[0]?.path[0]) as keyof typeof SCENARIO_FIELDS;
    return { kind: "bad", id, fault: wrongField(object, field, SCENARIO_FIELDS[field]) };
  }
  const { scenarioName, isResult, lastModified, description } = checked.data;
  const scenario: Scenario = {
    id,
    parentId,
    name: scenarioName ?? null,
    isResult: isResult ?? null,
    lastModified: lastModified ?? null,
    description: description ?? null,
    source,
  };
  return { kind: "good", id, scenario };
}

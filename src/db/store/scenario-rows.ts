import type { Scenario } from "../../model.ts";
import { boolArray, float8Array, int8Array, jsonbArray, textArray } from "./binary-arrays.ts";

/** Reads a date's text into seconds since the epoch; null where it is not known what it means. */
export type ReadSeconds = (text: string | null) => number | null;

/** Scenarios as one array a column, in the order that the statements of `scenario-statements.ts` expect. */
export function toColumns(scenarios: readonly Scenario[], seconds: ReadSeconds) {
  return [
    int8Array(scenarios.map((one) => one.id)),
    int8Array(scenarios.map((one) => one.parentId)),
    textArray(scenarios.map((one) => one.name)),
    boolArray(scenarios.map((one) => one.isResult)),
    textArray(scenarios.map((one) => one.lastModified)),
    float8Array(scenarios.map((one) => seconds(one.lastModified))),
    textArray(scenarios.map((one) => one.description)),
    jsonbArray(scenarios.map((one) => one.source)),
  ] as const;
}

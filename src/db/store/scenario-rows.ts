import type { Scenario } from "../../model.ts";
import { boolArray, int8Array, jsonbArray, textArray, timestamptzArray } from "./binary-arrays.ts";

/** Reads a date's text into microseconds since the epoch; null where it is not known what it means. */
export type ReadMicroseconds = (text: string | null) => bigint | null;

/** Scenarios as one array a column, in the order that the statements of `scenario-statements.ts` expect. */
export function toColumns(scenarios: readonly Scenario[], microseconds: ReadMicroseconds) {
  return [
    int8Array(scenarios.map((one) => one.id)),
    int8Array(scenarios.map((one) => one.parentId)),
    textArray(scenarios.map((one) => one.name)),
    boolArray(scenarios.map((one) => one.isResult)),
    textArray(scenarios.map((one) => one.lastModified)),
    timestamptzArray(scenarios.map((one) => microseconds(one.lastModified))),
    textArray(scenarios.map((one) => one.description)),
    jsonbArray(scenarios.map((one) => one.source)),
  ] as const;
}

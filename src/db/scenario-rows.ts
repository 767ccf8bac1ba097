import type { Scenario } from "../model.ts";

/** Reads a date's text into seconds since the epoch; null where it is not known what it means. */
export type ReadSeconds = (text: string | null) => number | null;

/** Scenarios as one array a column, in the order that the statements of `scenario-statements.ts` expect. */
export function toColumns(scenarios: readonly Scenario[], seconds: ReadSeconds) {
  return [
    scenarios.map((one) => one.id.toString()),
    scenarios.map((one) => one.parentId?.toString() ?? null),
    scenarios.map((one) => one.name),
    scenarios.map((one) => one.isResult),
    scenarios.map((one) => one.lastModified),
    scenarios.map((one) => seconds(one.lastModified)),
    scenarios.map((one) => one.description),
    scenarios.map((one) => one.source),
  ] as const;
}

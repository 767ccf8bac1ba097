import type { Scenario, ScenarioBuffer, ScenarioId } from "../../model.ts";
import type { Staging } from "./staging.ts";

/** Limits of the scenarios that are in memory while their lists are read. */
export interface MemoryLimits {
  /** JSON source of all lists together. */
  readonly bytes: number;
  /** A longer list is staged, even if memory is free. */
  readonly itemsOfList: number;
  /** Scenarios that are staged in one transaction. */
  readonly itemsAtOnce: number;
}

/**
 * V8 sizes its heap from what survives the first collections: with lists of up to 10,000 scenarios in memory, a list of a million
 * took 25 MB more. Staging makes lists of 5,000 take 4 to 10 % longer.
 */
export const MEMORY_LIMITS: MemoryLimits = { bytes: 48 * 2 ** 20, itemsOfList: 3_000, itemsAtOnce: 500 };

/** Shared by the run's buffers. */
export interface MemoryBudget {
  usedBytes: number;
  readonly limits: MemoryLimits;
}

/**
 * Holds one library's scenarios in memory, and moves them to the staging table if the list becomes long or if all lists together
 * exceed the budget.
 */
export function createScenarioBuffer(staging: Staging, budget: MemoryBudget): ScenarioBuffer {
  const { limits } = budget;
  let held = new Map<ScenarioId, Scenario>();
  let bytes = 0;
  /** All scenarios of the list. Merging compares this count with the staged rows, because a crash of the server deletes them. */
  let count = 0;
  let stage: string | null = null;

  const hold = (delta: number) => {
    bytes += delta;
    budget.usedBytes += delta;
  };
  const flush = async () => {
    stage ??= staging.newStage();
    const scenarios = [...held.values()];
    for (let index = 0; index < scenarios.length; index += limits.itemsAtOnce) {
      await staging.add(stage, scenarios.slice(index, index + limits.itemsAtOnce));
    }
    held = new Map();
    hold(-bytes);
  };
  const free = async () => {
    held = new Map();
    hold(-bytes);
    count = 0;
    if (stage !== null) await staging.remove(stage);
    stage = null;
  };

  return {
    restart: free,
    free,
    async add(scenarios) {
      for (const scenario of scenarios) {
        held.set(scenario.id, scenario);
        hold(2 * scenario.source.length);
      }
      count += scenarios.length;
      const limit = stage === null ? limits.itemsOfList : limits.itemsAtOnce;
      if (held.size > limit || budget.usedBytes > limits.bytes) await flush();
    },
    async sources(ids) {
      const elsewhere = ids.filter((id) => !held.has(id));
      const staged = stage === null || elsewhere.length === 0 ? [] : await staging.sources(stage, elsewhere);
      const inMemory = ids.flatMap((id) => held.get(id) ?? []);
      return new Map([...staged, ...inMemory.map(({ id, source }) => [id, source] as const)]);
    },
    async remove(id) {
      count--;
      if (!held.delete(id) && stage !== null) await staging.removeScenario(stage, id);
    },
    async finish() {
      if (stage === null) return { kind: "memory", scenarios: [...held.values()], count };
      await flush();
      return { kind: "staged", stage, count };
    },
  };
}

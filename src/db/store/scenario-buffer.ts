import type { Scenario, ScenarioId, ScenarioSet, ScenarioSink } from "../../model.ts";
import type { Staging } from "./staging.ts";

export interface ScenarioBuffer extends ScenarioSink {
  /** Everything that was added. */
  finish(): Promise<ScenarioSet>;
  /** Frees what the set holds, in memory and in the database. */
  free(): Promise<void>;
}

/** How much of the lists being read stays in memory. */
export interface MemoryLimits {
  /** Of JSON source, in all lists together. */
  readonly bytes: number;
  /** A longer list goes to the staging table, whatever memory is free. */
  readonly itemsOfList: number;
  /** So many go there in one transaction. */
  readonly itemsAtOnce: number;
}

/**
 * What lives for long when the collector first looks decides how much garbage it lets gather: with lists of 10,000 in memory,
 * a list of a million took 25 MB more. Lists of 5,000 take 4 to 10 % longer for passing through the table.
 */
export const MEMORY_LIMITS: MemoryLimits = { bytes: 48 * 2 ** 20, itemsOfList: 3_000, itemsAtOnce: 500 };

/** Shared by the run's buffers. */
export interface MemoryBudget {
  usedBytes: number;
  readonly limits: MemoryLimits;
}

/**
 * Holds one library's scenarios in memory while they are few, and moves them to the staging table when the list grows long
 * or when all lists together outgrow the budget.
 */
export function openScenarioBuffer(staging: Staging, budget: MemoryBudget): ScenarioBuffer {
  const { limits } = budget;
  let held = new Map<ScenarioId, Scenario>();
  let bytes = 0;
  /** What should stand in the staging table; compared when it is merged, for a crash of the server empties that table. */
  let kept = 0;
  let stage: string | null = null;

  const hold = (delta: number) => {
    bytes += delta;
    budget.usedBytes += delta;
  };
  const flush = async () => {
    stage ??= staging.newStage();
    const scenarios = [...held.values()];
    for (let at = 0; at < scenarios.length; at += limits.itemsAtOnce) {
      await staging.add(stage, scenarios.slice(at, at + limits.itemsAtOnce));
    }
    held = new Map();
    hold(-bytes);
  };
  const free = async () => {
    held = new Map();
    hold(-bytes);
    kept = 0;
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
      kept += scenarios.length;
      const limit = stage === null ? limits.itemsOfList : limits.itemsAtOnce;
      if (held.size > limit || budget.usedBytes > limits.bytes) await flush();
    },
    async sources(ids) {
      const elsewhere = ids.filter((id) => !held.has(id));
      const staged = stage === null || elsewhere.length === 0 ? [] : await staging.sources(stage, elsewhere);
      const inMemory = ids.flatMap((id) => held.get(id) ?? []);
      return new Map([...staged, ...inMemory.map((one) => [one.id, one.source] as const)]);
    },
    async remove(id) {
      kept--;
      if (!held.delete(id) && stage !== null) await staging.removeScenario(stage, id);
    },
    async finish() {
      if (stage === null) return { kind: "memory", scenarios: [...held.values()] };
      await flush();
      return { kind: "staged", stage, count: kept };
    },
  };
}

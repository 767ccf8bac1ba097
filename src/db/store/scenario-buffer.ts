import type { Scenario, ScenarioBuffer, ScenarioId } from "../../model.ts";
import type { TextParsers } from "../../parse-values.ts";
import type { Connection } from "../connect.ts";
import { type HeldLease, withLease } from "../lease.ts";
import { excludesLeaseSql } from "../lease-names.ts";
import { type BoundStatement, int8Array, statement } from "../statement.ts";
import { readSnapshot } from "../transaction.ts";
import { namesOf, scenarioColumns, toArrays, unnest } from "./columns.ts";
import { detectRefusedRows, type LockPatience, RefusedRows } from "./refused-rows.ts";

/*
 * The scenario lists of a run until they are stored. A list that is too long for memory passes through a table. Both promise the
 * same: a list that is read without an error is stored with all of its scenarios, or its library fails. A crash of the server
 * empties the table, so the merge compares the count. A reader of the main path may skip all that is about stages.
 */

/** Limits of the scenarios that are in memory until they are stored. Tests lower them. */
export const MEMORY_LIMITS = {
  /** JSON source of all lists together. */
  bytes: 48 * 2 ** 20,
  /**
   * A longer list is staged, even if memory is free. V8 sizes its heap from what survives the first collections, so larger lists
   * in memory would raise the memory of the whole run. Staging takes a little longer.
   */
  itemsOfList: 3_000,
  /** Scenarios that are staged in one transaction. */
  itemsAtOnce: 500,
};

const STAGED_COLUMNS = namesOf(scenarioColumns).join(", ");

const INSERT = statement(`
INSERT INTO simcat.scenario_staging (stage, ${STAGED_COLUMNS})
SELECT $stage, ${STAGED_COLUMNS} FROM ${unnest(scenarioColumns)} AS r(${STAGED_COLUMNS})
ON CONFLICT DO NOTHING`);

const SELECT_SOURCES = statement(`
SELECT scenario_id AS id, raw::text AS source FROM simcat.scenario_staging
WHERE stage = $stage AND scenario_id = ANY ($ids::int8[])`);
const DELETE_SCENARIO = statement("DELETE FROM simcat.scenario_staging WHERE stage = $stage AND scenario_id = $id");
const DELETE_STAGE = statement("DELETE FROM simcat.scenario_staging WHERE stage = $stage");
const DELETE_DEAD = statement(`
DELETE FROM simcat.scenario_staging WHERE ${excludesLeaseSql("split_part(stage, ':', 1)", "$name::text")}`);

const STAGING = "staging a long scenario list";

interface BufferTools {
  readonly lease: HeldLease;
  readonly parsers: TextParsers;
}

/**
 * Returns a function that creates the buffer of one library's scenarios. It holds them in memory, and moves them to the staging
 * table if the list becomes long or if all lists together exceed the memory. If the database refuses the rows of its stage,
 * `add`, `sources`, `remove` and `finish` throw RefusedRows. First deletes the stages of dead runs: this run has taken a lease that
 * excludes theirs.
 */
export async function createScenarioBuffers({ lease, parsers }: BufferTools): Promise<() => ScenarioBuffer> {
  const write = (query: BoundStatement, patience?: LockPatience) =>
    withLease(lease, { operation: STAGING, byKey: true, ...patience }, (connection) => connection.query(query));
  const writeStage = (query: BoundStatement) => detectRefusedRows(lease, STAGING, (patience) => write(query, patience));
  const readSources = async (stage: string, ids: readonly ScenarioId[]) => {
    const operation = "reading staged scenarios";
    const query = SELECT_SOURCES({ stage, ids: int8Array(ids) });
    const read = (connection: Connection) => connection.query<{ id: ScenarioId; source: string }>(query);
    return detectRefusedRows(lease, operation, () => readSnapshot(lease.pool, operation, read, lease.lost));
  };
  await write(DELETE_DEAD({ name: lease.name }));
  let usedBytes = 0;
  let stages = 0;

  return () => {
    const nextStage = () => `${lease.name}:${lease.token}.${++stages}`;
    let stage = nextStage();
    let isStaged = false;
    let inMemory = new Map<ScenarioId, Scenario>();
    let bytes = 0;
    /** All scenarios of the list. Merging compares this count with the staged rows, because a crash of the server deletes them. */
    let count = 0;
    const account = (delta: number) => {
      bytes += delta;
      usedBytes += delta;
    };
    const drop = () => {
      inMemory = new Map();
      account(-bytes);
    };
    const flush = async () => {
      isStaged = true;
      const scenarios = [...inMemory.values()];
      for (let index = 0; index < scenarios.length; index += MEMORY_LIMITS.itemsAtOnce) {
        const some = scenarios.slice(index, index + MEMORY_LIMITS.itemsAtOnce);
        await writeStage(INSERT({ stage, ...toArrays(scenarioColumns, some, parsers) }));
      }
      drop();
    };
    const free = async () => {
      drop();
      count = 0;
      if (!isStaged) return;
      isStaged = false;
      await writeStage(DELETE_STAGE({ stage })).catch((error: unknown) => {
        // Nothing reads this stage any more. The next run deletes the rows that remain.
        if (!(error instanceof RefusedRows)) throw error;
      });
    };
    return {
      async restart() {
        await free();
        // If rows of the first attempt remain, the list must not be mixed with them.
        stage = nextStage();
      },
      free,
      async add(scenarios) {
        for (const scenario of scenarios) {
          inMemory.set(scenario.id, scenario);
          account(2 * scenario.source.length);
        }
        count += scenarios.length;
        const limit = isStaged ? MEMORY_LIMITS.itemsAtOnce : MEMORY_LIMITS.itemsOfList;
        if (inMemory.size > limit || usedBytes > MEMORY_LIMITS.bytes) await flush();
      },
      async sources(ids) {
        const elsewhere = ids.filter((id) => !inMemory.has(id));
        const staged = isStaged && elsewhere.length > 0 ? (await readSources(stage, elsewhere)).rows : [];
        const found = ids.flatMap((id) => inMemory.get(id) ?? []);
        return new Map([...staged, ...found].map(({ id, source }) => [id, source]));
      },
      async remove(id) {
        count--;
        if (!inMemory.delete(id) && isStaged) await writeStage(DELETE_SCENARIO({ stage, id: id.toString() }));
      },
      async finish() {
        if (!isStaged) return { kind: "memory", scenarios: [...inMemory.values()], count };
        await flush();
        return { kind: "staged", stage, count };
      },
    };
  };
}

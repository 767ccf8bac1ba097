import type { Scenario, ScenarioId } from "../../model.ts";
import type { Pool } from "../connect.ts";
import { createFencedTransaction } from "../fenced-transaction.ts";
import type { Lease } from "../lease.ts";
import { readSnapshot } from "../transaction.ts";
import { int8Array } from "./binary-arrays.ts";
import { type ReadMicroseconds, toColumns } from "./scenario-rows.ts";
import { attributeError, type LockPatience, RefusedRows } from "./write-in-halves.ts";

/** The table through which long scenario lists pass, in short transactions. */
export interface Staging {
  newStage(): string;
  add(stage: string, scenarios: readonly Scenario[]): Promise<void>;
  sources(stage: string, ids: readonly ScenarioId[]): Promise<ReadonlyMap<ScenarioId, string>>;
  removeOne(stage: string, id: ScenarioId): Promise<void>;
  remove(stage: string): Promise<void>;
  /** What dead runs left behind. */
  clear(): Promise<void>;
}

const INSERT = `
INSERT INTO simcat.scenario_staging
SELECT $1, id, parent_id, scenario_name, is_result, last_modified, last_modified_at, description, raw
FROM unnest($2::int8[], $3::int8[], $4::text[], $5::bool[], $6::text[], $7::timestamptz[], $8::text[], $9::jsonb[])
  AS r(id, parent_id, scenario_name, is_result, last_modified, last_modified_at, description, raw)
ON CONFLICT DO NOTHING`;

const SELECT_SOURCES = `
SELECT scenario_id AS id, raw::text AS source FROM simcat.scenario_staging
WHERE stage = $1 AND scenario_id = ANY ($2::int8[])`;
const DELETE_ONE = "DELETE FROM simcat.scenario_staging WHERE stage = $1 AND scenario_id = $2";
const DELETE_STAGE = "DELETE FROM simcat.scenario_staging WHERE stage = $1";
/** Names no stage. */
const NO_STAGE = "";

/** Each throws RefusedRows when the database refuses the rows of that stage. */
export function openStaging(pool: Pool, lease: Lease, microseconds: ReadMicroseconds): Staging {
  let stages = 0;
  const inTransaction = createFencedTransaction(pool, lease);
  const write = (text: string, values: unknown[], patience?: LockPatience) =>
    inTransaction({ operation: "staging a long scenario list", byKey: true, ...patience }, async (connection) => {
      await connection.query(text, values);
    });
  const writeRows = (text: string, values: unknown[], none: unknown[]) =>
    attributeError(
      (patience) => write(text, values, patience),
      () => write(text, none),
    );
  const readSources = (stage: string, ids: readonly ScenarioId[]) =>
    readSnapshot(
      pool,
      "reading staged scenarios",
      async (connection) => {
        const { rows } = await connection.query<{ id: ScenarioId; source: string }>(SELECT_SOURCES, [
          stage,
          int8Array(ids),
        ]);
        return new Map(rows.map(({ id, source }) => [id, source]));
      },
      lease.lost,
    );

  return {
    newStage: () => `${lease.token}.${++stages}`,
    add: (stage, scenarios) =>
      writeRows(INSERT, [stage, ...toColumns(scenarios, microseconds)], [NO_STAGE, ...toColumns([], microseconds)]),
    sources: (stage, ids) =>
      attributeError(
        () => readSources(stage, ids),
        () => readSources(NO_STAGE, []),
      ),
    removeOne: (stage, id) => writeRows(DELETE_ONE, [stage, id.toString()], [NO_STAGE, "0"]),
    async remove(stage) {
      try {
        await writeRows(DELETE_STAGE, [stage], [NO_STAGE]);
      } catch (error) {
        // Its library is stored, or has failed by now. What is left is deleted when the next run begins.
        if (!(error instanceof RefusedRows)) throw error;
      }
    },
    clear: () => write("DELETE FROM simcat.scenario_staging", []),
  };
}

import type { Scenario, ScenarioId } from "../../model.ts";
import type { Pool } from "../connect.ts";
import { fencedWrites } from "../fenced-writes.ts";
import type { Lease } from "../lease.ts";
import { readSnapshot } from "../snapshot.ts";
import { int8Array } from "./binary-arrays.ts";
import { type ReadMicroseconds, toColumns } from "./scenario-rows.ts";

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

export function openStaging(pool: Pool, lease: Lease, microseconds: ReadMicroseconds): Staging {
  let stages = 0;
  const inTransaction = fencedWrites(pool, lease);
  const write = (text: string, values: unknown[]) =>
    inTransaction({ doing: "staging a long scenario list" }, async (connection) => {
      await connection.query(text, values);
    });

  return {
    newStage: () => `${lease.token}.${++stages}`,
    add: (stage, scenarios) => write(INSERT, [stage, ...toColumns(scenarios, microseconds)]),
    sources: (stage, ids) =>
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
      ),
    removeOne: (stage, id) =>
      write("DELETE FROM simcat.scenario_staging WHERE stage = $1 AND scenario_id = $2", [stage, id.toString()]),
    remove: (stage) => write("DELETE FROM simcat.scenario_staging WHERE stage = $1", [stage]),
    clear: () => write("DELETE FROM simcat.scenario_staging", []),
  };
}

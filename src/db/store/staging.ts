import type { Scenario, ScenarioId } from "../../model.ts";
import type { Connection, Pool } from "../connect.ts";
import type { TextParsers } from "../content-fields.ts";
import type { Lease } from "../lease.ts";
import { excludesLeaseSql } from "../lease-names.ts";
import { type BoundStatement, statement } from "../statement.ts";
import { readSnapshot } from "../transaction.ts";
import { int8Array, namesOf, scenarioColumns, toArrays, unnest } from "./columns.ts";
import { detectRefusedRows, type LockPatience, RefusedRows } from "./save-in-halves.ts";

/*
 * A scenario list that is too long for memory passes through a table. This file and `scenario-buffer.ts` promise what an array does: a
 * list that is read without an error is stored with all of its scenarios, or its library fails. A crash of the server empties the
 * table, so the merge compares the count. A reader of the main path may skip both, and the `staged` variant of each statement.
 */

/** The table that holds long scenario lists while they are read. Every write is a short transaction. */
export interface Staging {
  newStage(): string;
  add(stage: string, scenarios: readonly Scenario[]): Promise<void>;
  sources(stage: string, ids: readonly ScenarioId[]): Promise<ReadonlyMap<ScenarioId, string>>;
  removeScenario(stage: string, id: ScenarioId): Promise<void>;
  remove(stage: string): Promise<void>;
  /** Deletes the stages of runs that are dead, because this run has taken a lease that excludes theirs. */
  clear(): Promise<void>;
}

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

/** Each method except `clear` throws RefusedRows if the database refuses the rows of that stage. */
export function createStaging(pool: Pool, lease: Lease, parsers: TextParsers): Staging {
  let stages = 0;
  const operation = "staging a long scenario list";
  const write = (query: BoundStatement, patience?: LockPatience) =>
    lease.write({ operation, byKey: true, ...patience }, async (connection) => {
      await connection.query(query);
    });
  const writeRows = (query: BoundStatement) =>
    detectRefusedRows(lease.write, operation, (patience) => write(query, patience));
  const readSources = async (connection: Connection, stage: string, ids: readonly ScenarioId[]) => {
    const { rows } = await connection.query<{ id: ScenarioId; source: string }>(
      SELECT_SOURCES({ stage, ids: int8Array(ids) }),
    );
    return new Map(rows.map(({ id, source }) => [id, source]));
  };

  return {
    newStage: () => `${lease.name}:${lease.token}.${++stages}`,
    add: (stage, scenarios) => writeRows(INSERT({ stage, ...toArrays(scenarioColumns, scenarios, parsers) })),
    sources: (stage, ids) =>
      detectRefusedRows(lease.write, "reading staged scenarios", () =>
        readSnapshot(pool, "reading staged scenarios", (connection) => readSources(connection, stage, ids), lease.lost),
      ),
    removeScenario: (stage, id) => writeRows(DELETE_SCENARIO({ stage, id: id.toString() })),
    async remove(stage) {
      try {
        await writeRows(DELETE_STAGE({ stage }));
      } catch (error) {
        // Its library is stored or has failed by now. The next run deletes the rows that remain.
        if (!(error instanceof RefusedRows)) throw error;
      }
    },
    clear: () => write(DELETE_DEAD({ name: lease.name })),
  };
}

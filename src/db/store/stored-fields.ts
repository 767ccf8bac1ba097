import type { DriftField } from "../../model.ts";
import type { Connection } from "../connect.ts";

const COLUMNS: Readonly<Record<DriftField, string>> = {
  scenarioName: "scenario_name",
  isResult: "is_result",
  lastModified: "last_modified",
};

/** Which of these fields the live scenarios have at all: what drift is measured against. */
export async function readStoredFields(connection: Connection): Promise<Set<DriftField>> {
  const fields = Object.keys(COLUMNS) as DriftField[];
  const parts = fields.map(
    (field) =>
      `EXISTS (SELECT FROM simcat.scenarios WHERE removed_at IS NULL AND ${COLUMNS[field]} IS NOT NULL) AS "${field}"`,
  );
  const { rows } = await connection.query<Record<DriftField, boolean>>(`SELECT ${parts.join(", ")}`);
  return new Set(fields.filter((field) => rows[0]?.[field]));
}

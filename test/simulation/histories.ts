import { brokenHistories } from "../process/service-rows.ts";
import type { Control } from "./database.ts";

const LIBRARY =
  "owner, library_name, library_owner, last_modified, file_size, package_name, package_version, description";
/** A parent of 0 is shown as no parent in every view, and a change from none to 0 makes no version. */
const SCENARIO =
  "owner, library_name, scenario_id, nullif(parent_id, 0) AS parent_id, scenario_name, is_result, last_modified, description";

/** A reader's view at a moment, kept next to the tables and later compared with the history of that moment. */
export async function remember(control: Control): Promise<void> {
  await control.query(`
    WITH moment AS (SELECT clock.clock_timestamp() AS at), l AS (
      INSERT INTO sim.seen_libraries SELECT m.at, ${LIBRARY} FROM simcat.libraries, moment m WHERE removed_at IS NULL
    ), kept AS (INSERT INTO sim.moments SELECT at FROM moment)
    INSERT INTO sim.seen_scenarios SELECT m.at, ${SCENARIO} FROM simcat.scenarios, moment m WHERE removed_at IS NULL`);
}

/**
 * Prunes versions that ended before: earlier moments are no longer checked, nor are the scenarios of a removed library,
 * which stay unchanged from its removal on.
 */
export async function forgetBefore(control: Control, cutoff: Date): Promise<void> {
  for (const table of ["moments", "seen_libraries", "seen_scenarios"]) {
    await control.query(`DELETE FROM sim.${table} WHERE at < $1`, [cutoff]);
  }
  await control.query(`DELETE FROM sim.seen_scenarios s WHERE NOT EXISTS (
    SELECT FROM simcat.libraries l WHERE (l.owner, l.library_name) = (s.owner, s.library_name))`);
}

const asOf = (table: string, history: string, columns: string) => `
  SELECT m.at, ${columns} FROM sim.moments m JOIN (
    SELECT ${columns}, removed_at, changed_at AS valid_from, 'infinity'::timestamptz AS valid_to FROM simcat.${table}
    UNION ALL SELECT ${columns}, removed_at, valid_from, valid_to FROM simcat.${history}
  ) v ON m.at >= v.valid_from AND m.at < v.valid_to WHERE removed_at IS NULL`;

const differing = (seen: string, table: string, history: string, columns: string) => `
  (SELECT '${table}: a reader saw it, history does not have it' AS what, d::text FROM (
    SELECT * FROM sim.${seen} EXCEPT ALL ${asOf(table, history, columns)}) d LIMIT 3)
  UNION ALL
  (SELECT '${table}: history has it, no reader saw it', d::text FROM (
    ${asOf(table, history, columns)} EXCEPT ALL SELECT * FROM sim.${seen}) d LIMIT 3)`;

const unseen = (what: string, history: string, key: string) => `
  (SELECT '${what}: a version that the view changes does not show' AS what, d::text FROM (
    SELECT ${key}, valid_to FROM simcat.${history}
    EXCEPT SELECT ${key}, changed_at FROM simcat_report.changes WHERE what = '${what}' AND kind <> 'added') d LIMIT 3)`;

const cutShort = (table: string) => `
  (SELECT '${table}: a date without its microseconds' AS what, (last_modified, last_modified_at)::text AS d
   FROM simcat.${table} WHERE to_char(last_modified_at, 'US')
     <> rpad(coalesce(substring(last_modified FROM ':[0-9][0-9][.]([0-9]{1,6})'), ''), 6, '0') LIMIT 3)`;

const CHECKS = [
  differing("seen_libraries", "libraries", "library_history", LIBRARY),
  differing("seen_scenarios", "scenarios", "scenario_history", SCENARIO),
  unseen("library", "library_history", "owner, library_name"),
  unseen("scenario", "scenario_history", "owner, library_name, scenario_id"),
  ...["libraries", "library_history", "scenarios", "scenario_history"].map(cutShort),
].join(" UNION ALL ");

/** Violations in the histories, one sentence each. */
export async function checkHistories(control: Control): Promise<string[]> {
  const rows = await control.query<{ what: string; d: string }>(CHECKS);
  return [
    ...rows.map(({ what, d }) => `history: ${what}: ${d}`),
    ...(await brokenHistories(control.query)).map(
      (row) => `history: versions that do not meet: ${JSON.stringify(row)}`,
    ),
  ];
}
